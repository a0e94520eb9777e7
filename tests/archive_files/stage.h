// A FilesStage is a test's archive of files: the file processor over the model of the tables, a
// bucket in memory, and a pretend Slack on loopback that has the files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/archive/files.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "servers/demo/pretend_slack.h"
#include "tables/follower.h"
#include "tests/model/model_tables.h"
#include "tests/support/memory_objects.h"
#include "tests/support/temp_folder.h"

namespace tidemark::archive {

inline constexpr char kCanary[] = "xoxb-canary-k7Wd-never-shown";
inline constexpr char kArchiveTable[] = "SlackArchive";
inline constexpr char kStateTable[] = "tidemark-archive-state";

class FilesStage : public ::testing::Test {
 protected:
  FilesStage();

  // With other options than at first, and with what the members below are now.
  void Rebuild(FilesOptions options);

  // A message of this second with these of the workspace's files; stored by Put.
  Message MessageWith(const std::vector<std::string>& files);
  FileMeta MetaOf(const demo::File& file) const;
  void Put(const Message& message);
  Message Get(const Message& message);

  // Gives the processor all records of the stream, then lets it try what is due, until neither has
  // anything to do. The clock stands.
  void Run();
  // Moves the clock to the next fetch that waits, and runs; false when none waits.
  bool RunNext();
  // All of it, to the end.
  void RunAll();
  size_t downloads() const { return slack->calls(demo::kDownloads); }
  // Of the result, so far.
  double Counted(const std::string& result) const;

  std::string KeyOfObject(const Message& message, const std::string& file) const;
  std::string UriOf(const Message& message, const std::string& file) const;
  // All that is in the tables and the log.
  std::string Everything();

  ManualClock clock;
  SystemClock system_clock;
  SeededRandom random{20261115};
  ManualSleeper sleeper{&clock};
  std::ostringstream log;
  Logger logger{{.level = LogLevel::kDebug}, clock, &log};
  demo::Workspace workspace;
  std::vector<demo::File> files;  // Some that Slack keeps.
  std::unique_ptr<demo::PretendSlack> slack;
  http::CurlClient client{{}, &clock, &sleeper};
  model::ModelTables tables{clock};
  tidemark::testing::MemoryObjects objects;
  tables::Tables* archive_tables = &tables;  // What a rebuilt processor uses, as the store.
  objects::Objects* store = &objects;
  State state{kStateTable, &tables};
  TempFolder folder;
  std::unique_ptr<slack::WebApi> web_api;
  std::unique_ptr<slack::Downloader> downloader;
  std::optional<Secret> token = Secret(std::string(kCanary));
  std::function<void()> before_fetch = [] {};  // When a message's row has been read.
  std::unique_ptr<Metrics> metrics;
  std::unique_ptr<Files> processor;
  std::optional<tables::Follower> follower;
};

}  // namespace tidemark::archive
