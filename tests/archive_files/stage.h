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
#include "tests/support/manual_time.h"
#include "tests/support/memory_objects.h"
#include "tests/support/temp_folder.h"

namespace tidemark::archive {

inline constexpr char kCanary[] = "xoxb-canary-k7Wd-never-shown";
inline constexpr char kArchiveTable[] = "SlackArchive";
inline constexpr char kStateTable[] = "tidemark-archive-state";

class FilesStage : public ::testing::Test {
 protected:
  FilesStage();

  // Makes a new processor with other options and with the present values of the members below.
  void Rebuild(FilesOptions options);

  // A message of the present second with these files of the workspace. Put stores it.
  Message MessageWith(const std::vector<std::string>& files);
  FileMeta MetaOf(const demo::File& file) const;
  void Put(const Message& message);
  Message Get(const Message& message);

  // Gives the processor all records of the stream and lets it fetch what is due, until there is
  // nothing left to do. The clock does not move.
  void Run();
  // Moves the clock to the next fetch that waits, and runs; false when none waits.
  bool RunNext();
  // Runs until no fetch waits any more.
  void RunAll();
  size_t downloads() const { return slack->calls(demo::kDownloads); }
  // The counter of this result.
  double Counted(const std::string& result) const;

  std::string KeyOfObject(const Message& message, const std::string& file) const;
  std::string UriOf(const Message& message, const std::string& file) const;
  // All that is in the tables and the log.
  std::string Everything();

  // The files are stored, and the message has no flag.
  void ExpectComplete(const Message& message, const std::vector<std::string>& ids);
  void ExpectFailed(const Message& message, const std::string& reason);

  ManualClock clock;
  SystemClock system_clock;
  SeededRandom random{20261115};
  ManualSleeper sleeper{&clock};
  std::ostringstream log;
  Logger logger{{.level = LogLevel::kDebug}, clock, &log};
  demo::Workspace workspace;
  std::vector<demo::File> files;  // Some files that Slack stores.
  std::unique_ptr<demo::PretendSlack> slack;
  http::CurlClient client{{}, &clock, &sleeper};
  model::ModelTables tables{clock};
  tidemark::testing::MemoryObjects objects;
  tables::Tables* archive_tables = &tables;  // What a rebuilt processor uses, as the store.
  objects::Objects* store = &objects;
  State state{kStateTable, &tables};
  TempFolder folder;
  Metrics web_api_metrics;
  std::unique_ptr<slack::WebApi> web_api;
  std::unique_ptr<slack::Downloader> downloader;
  std::optional<Secret> token = Secret(std::string(kCanary));
  std::function<void()> before_fetch = [] {};  // Called after a message's row was read.
  std::unique_ptr<Metrics> metrics;
  std::unique_ptr<Files> processor;
  std::optional<tables::Follower> follower;
};

}  // namespace tidemark::archive
