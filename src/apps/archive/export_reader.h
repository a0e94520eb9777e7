// An ExportReader knows the layout of Slack's exports: lists of conversations and users at the top,
// a folder for each conversation with one file for each day. On Enterprise Grid there is the same
// again for each workspace, under teams/.
//
//   Problems problems;
//   auto reader = TRY(ExportReader::Open("export.zip", &problems));
//   for (const ExportWorkspace& workspace : reader->workspaces()) ...
//
// Exports differ and have faults. What cannot be used is added to Problems, with its file and the
// reason, and reading goes on. Only an export that cannot be read at all is an error. In memory are
// the lists and one message. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/archive/export_files.h"
#include "base/json.h"
#include "base/result.h"
#include "slack/ids.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

inline constexpr size_t kMaxProblemExamples = 20;
// Slack's messages have at most some ten thousand characters and a few dozen blocks.
inline constexpr size_t kMaxExportRowBytes = 4 << 20;

struct Problem {
  std::string file;
  std::string reason;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// Counts what could not be used and keeps some examples. May be used from any thread.
class Problems {
 public:
  void Add(std::string_view file, std::string_view reason);
  uint64_t count() const;
  std::vector<Problem> examples() const;

 private:
  mutable std::mutex mutex_;
  uint64_t count_ = 0;
  std::vector<Problem> examples_;
};

enum class ConversationKind {
  kPublic,
  kPrivate,  // A private channel.
  kDirect,   // A direct message of two or more people.
};

// A text and when it was set, in epoch seconds; 0: unknown.
struct DatedText {
  std::string text = {};
  int64_t set = 0;
};

// A message that is pinned in its channel.
struct ExportPin {
  slack::Timestamp ts;  // Of the message.
  std::string user = {};
  int64_t pinned = 0;  // Epoch seconds; 0: unknown.
};

struct ExportConversation {
  slack::ChannelId channel;
  ConversationKind kind = ConversationKind::kPublic;
  std::string name = {};  // Empty for a direct one.
  int64_t created = 0;    // Epoch seconds; 0: unknown.
  bool archived = false;
  DatedText topic = {};
  DatedText purpose = {};
  std::vector<ExportPin> pins = {};
  std::vector<ExportFile> days = {};  // In the order of their dates.
};

struct ExportWorkspace {
  std::string folder;  // "" or "teams/acme".
  std::vector<ExportConversation> conversations = {};
  std::optional<ExportFile> users = std::nullopt;
};

class ExportReader {
 public:
  // Fails like OpenExportFiles, and with kInvalid when there is no list of conversations, or when
  // slackdump wrote the files in one of its own formats.
  // `problems` outlives the reader.
  static Result<std::unique_ptr<ExportReader>> Open(const std::string& path, Problems* problems);
  static Result<std::unique_ptr<ExportReader>> Open(std::unique_ptr<ExportFiles> files,
                                                    Problems* problems);

  const std::vector<ExportWorkspace>& workspaces() const { return workspaces_; }
  // Files that were attached to messages. Slack's exports have none; slackdump writes them to
  // __uploads and attachments.
  const std::vector<ExportFile>& attachments() const { return attachments_; }
  // The date of the newest day, in epoch seconds: the export was made then or later. 0: no days.
  int64_t newest_day() const { return newest_day_; }

  // Gives each element of the JSON array in the file, as text that was not parsed. False when not
  // all of them could be read: that is added to the problems, and the rows that were given are
  // valid.
  bool ReadRows(const ExportFile& file, const std::function<void(std::string_view row)>& take);
  // The same, parsed; elements that are not objects are added to the problems.
  bool ReadObjects(const ExportFile& file, const std::function<void(const Json&)>& take);

 private:
  ExportReader(std::unique_ptr<ExportFiles> files, Problems* problems);
  void FindWorkspaces();
  void ReadLists(ExportWorkspace* workspace);
  void AddDays();
  void FindUsers();

  std::unique_ptr<ExportFiles> files_;
  Problems& problems_;
  std::vector<ExportWorkspace> workspaces_;
  std::vector<ExportFile> attachments_;
  int64_t newest_day_ = 0;
};

// Removes the tokens from the file links of an export. They give access to the files for a while
// and must not be stored.
std::string WithoutLinkTokens(std::string_view text);

}  // namespace tidemark::archive
