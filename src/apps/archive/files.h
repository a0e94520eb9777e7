// Files fetches the files of messages from Slack into the object store, to
// slack/{team}/{channel}/{ts}/{file}, and records them in the message's files_s3.
//
// Notice gets each change of the archive's table. It puts messages whose files are missing into a
// queue (state.h), which outlives the records of the stream. Step works on what is due in the
// queue:
//   - A failure that may pass is postponed with growing waits, or for as long as Slack asks
//     (Retry-After), a bounded number of times. Then the message is flagged with the reason.
//   - A later success removes the flag. Removing the flag by hand asks for another attempt.
//   - External files and files that Slack hides are skipped and count as complete. Stubs (Slack
//     Connect) are resolved by files.info.
// Recording files_s3 changes the row that Notice watches: it recognises its own changes and ignores
// them.
//
// A file is stored completely or not at all: see slack/download.h. Step and Notice are used by one
// thread. Neither waits until something is due. With threads of its own (FilesOptions::parallel)
// Step only starts downloads, and a slow one goes on while the next steps start others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/archive/message.h"
#include "apps/archive/state.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/secret.h"
#include "objects/objects.h"
#include "slack/download.h"
#include "slack/web_api.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct FilesOptions {
  std::string table = "SlackArchive";
  std::string bucket = "slack-archive";  // In the URIs of files_s3.
  // A folder for downloads, used only by this process; emptied at the start.
  std::string spool;
  // With waits that double from 1 s to 4,096 s, sixteen attempts take four and a half hours.
  uint32_t max_attempts = 16;
  std::chrono::seconds first_wait = std::chrono::seconds(1);
  bool ask_first = false;       // files.info before each download.
  uint64_t min_free_bytes = 0;  // Of the spool's disk: no download begins that would leave less.
  // How many messages are worked on at the same time, each by a thread of its own. 1: Step works
  // on them itself, one after the other.
  size_t parallel = 1;
};

// All outlive the Files.
struct FilesParts {
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  State* state = nullptr;
  slack::Downloader* downloader = nullptr;
  slack::WebApi* web_api = nullptr;
  // The bot token of a team; nullopt when there is none.
  std::function<std::optional<Secret>(const slack::TeamId&)> token;
  Runtime runtime;
};

class Files {
 public:
  Files(FilesOptions options, FilesParts parts);
  ~Files();

  // Fails only when the tables do. The caller then gives the record again.
  Status Notice(const tables::StreamRecord& record);
  // Fetches what is due. After some seconds it starts no further message and leaves the rest to the
  // next step. Fails only when the tables do, or when the objects of a purged message cannot be
  // deleted; a failure of another thread is returned by the next step.
  Status Step();
  // Waits until no thread works on a message.
  void Wait();
  // Ends running downloads within a second and starts no more. A download that was ended is not an
  // attempt, and is started again after the next start of the process. May be called from any
  // thread.
  void Stop();

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

// slack/{team}/{channel}/{ts}/{file}; kInvalid when `file` is not a file id.
Result<std::string> ObjectKeyOf(const Place& place, const slack::Timestamp& ts,
                                const std::string& file);
// Where the raw event of a message is when its row has no room for it. It is among the objects of
// the message, so that purging the message deletes it too.
std::string RawEventKeyOf(const Place& place, const slack::Timestamp& ts, const Body& body);
// Deletes every object of the message, also one that is not in files_s3: the process that stored it
// may have died before it recorded it.
Status DeleteObjectsOf(objects::Objects& objects, const Place& place, const slack::Timestamp& ts);
// The files of a message that the archive stores: not external, not hidden.
std::vector<FileMeta> FilesToKeep(const Message& message);

// What Step writes into a message's row.
struct FilesUpdate {
  std::vector<std::string> uris;    // Stored files that are not in the row yet.
  std::string error = {};           // Empty: nothing is missing, and an earlier flag is removed.
  std::vector<FileMeta> info = {};  // Replaces files_info, unless it is empty.
};

// Adds the URIs and sets or removes the flag. The condition is that the message exists and was not
// purged.
tables::UpdateRequest UpdateOfFiles(const std::string& table, const Message& message,
                                    const FilesUpdate& update);

// Removes the flag of a message whose files could not be fetched, so that they are tried again.
// False when there is no such message, or it has no flag.
Result<bool> AskForFilesAgain(tables::Tables& tables, const std::string& table, const Place& place,
                              const slack::Timestamp& ts);

// Whether the change is only such an update: only files_s3 and the flag differ. A change that
// removes the flag does not count: somebody may have asked for another attempt.
bool IsOfFilesAlone(const tables::StreamRecord& record);

}  // namespace tidemark::archive
