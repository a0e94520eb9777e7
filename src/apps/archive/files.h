// Files fetches what messages carry: from Slack into the object store, at
// slack/{team}/{channel}/{ts}/{file}, recorded in the message's files_s3.
//
// Notice is given each change of the archive's table and puts messages that lack files into the
// queue, which outlives the stream's records. Step tries what is due: what fails and may succeed
// later is put off with growing waits, a bounded number of times, and then flagged with its
// reason. A later success clears the flag; whoever removes it asks for another try. External files,
// and those that Slack hides, are passed over and count as complete; stubs are resolved by
// files.info. Writing files_s3 changes the row that is watched: such a change is recognised and
// starts nothing.
//
// What is stored is the file or nothing: see slack/download.h. Step and Notice belong to one
// thread, and neither ever waits for a time to come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/archive/message.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/secret.h"
#include "objects/objects.h"
#include "slack/download.h"
#include "slack/web_api.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct FilesOptions {
  std::string table = "SlackArchive";
  std::string bucket = "slack-archive";  // In the URIs of files_s3.
  std::string spool;  // A folder for files on their way, of this process alone; emptied at first.
  uint32_t max_attempts = 3;
  std::chrono::seconds first_wait = std::chrono::seconds(1);  // Doubled each time.
  bool ask_first = false;                                     // files.info before each download.
};

// All outlive the Files; logger and metrics may be null.
struct FilesParts {
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  State* state = nullptr;
  slack::Downloader* downloader = nullptr;
  slack::WebApi* web_api = nullptr;
  // The bot token of a team; nullopt when there is none.
  std::function<std::optional<Secret>(const slack::TeamId&)> token;
  const Clock* clock = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class Files {
 public:
  Files(FilesOptions options, FilesParts parts);
  ~Files();

  // Fails only when the tables do: then the record is to be given again.
  Status Notice(const tables::StreamRecord& record);
  // Tries what is due, for some seconds at most and then to the end of what is under way; what is
  // left is the next step's. Fails only when the tables do, or the objects of a message that was
  // purged cannot be deleted.
  Status Step();

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

// slack/{team}/{channel}/{ts}/{file}; kInvalid when the file's id is none.
Result<std::string> ObjectKeyOf(const Place& place, const slack::Timestamp& ts,
                                const std::string& file);
// Deletes every object of the message, also one that nobody has recorded: a purge empties the row
// that would have named it.
Status DeleteObjectsOf(objects::Objects& objects, const Place& place, const slack::Timestamp& ts);
// The files of a message that have an object of ours to wait for: not external, not hidden.
std::vector<FileMeta> FilesToKeep(const Message& message);

}  // namespace tidemark::archive
