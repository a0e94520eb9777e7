// An ExportReader knows how Slack lays out an export: lists of conversations and users at the top,
// a folder a conversation with a file a day, and on Enterprise Grid all of it once more for each
// workspace under teams/.
//
//   Problems problems;
//   auto reader = TRY(ExportReader::Open("export.zip", &problems));
//   for (const ExportWorkspace& workspace : reader->workspaces()) ...
//
// Exports differ and have faults. What cannot be used is noted with its file and the reason, and
// the rest goes on; only an export that cannot be read at all is an error. Memory is bounded by
// the lists and one message. One thread at a time.
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

namespace tidemark::archive {

inline constexpr size_t kMaxProblemExamples = 20;
// Slack's messages have at most some ten thousand characters and a few dozen blocks.
inline constexpr size_t kMaxExportRowBytes = 4 << 20;

struct Problem {
  std::string file;
  std::string reason;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// What could not be used: how much, and some examples. May be used from any thread.
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
  kDirect,   // Of two or more people.
};

// A text and when it was set, in epoch seconds; 0: not said.
struct DatedText {
  std::string text = {};
  int64_t set = 0;
};

struct ExportConversation {
  slack::ChannelId channel;
  ConversationKind kind = ConversationKind::kPublic;
  std::string name = {};  // Empty for a direct one.
  int64_t created = 0;    // Epoch seconds; 0: not said.
  bool archived = false;
  DatedText topic = {};
  DatedText purpose = {};
  std::vector<ExportFile> days = {};  // In the order of their dates.
};

struct ExportWorkspace {
  std::string folder;  // "" or "teams/acme".
  std::vector<ExportConversation> conversations = {};
  std::optional<ExportFile> users = std::nullopt;
};

class ExportReader {
 public:
  // Errors as of OpenExportFiles, and kInvalid when there is no list of conversations in it.
  // `problems` outlives the reader.
  static Result<std::unique_ptr<ExportReader>> Open(const std::string& path, Problems* problems);
  static Result<std::unique_ptr<ExportReader>> Open(std::unique_ptr<ExportFiles> files,
                                                    Problems* problems);

  const std::vector<ExportWorkspace>& workspaces() const { return workspaces_; }

  // Each element of the array in the file, as text that is not checked. False when the file could
  // not be read in full: that is noted, and what was given until then holds.
  bool ReadRows(const ExportFile& file, const std::function<void(std::string_view row)>& take);
  // Each that is an object.
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
};

// Links of an export carry a token that opens them for a while: it is taken out of the text.
std::string WithoutLinkTokens(std::string_view text);

}  // namespace tidemark::archive
