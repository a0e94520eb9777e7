#include "apps/archive/export_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/array_splitter.h"
#include "apps/archive/json_fields.h"
#include "slack/event.h"

namespace tidemark::archive {

namespace {

struct ListFile {
  std::string_view name;
  ConversationKind kind;
};
constexpr std::array kLists = {ListFile{"channels.json", ConversationKind::kPublic},
                               ListFile{"groups.json", ConversationKind::kPrivate},
                               ListFile{"dms.json", ConversationKind::kDirect},
                               ListFile{"mpims.json", ConversationKind::kDirect}};
constexpr std::string_view kUsers = "users.json";
constexpr std::string_view kOrganisationUsers = "org_users.json";

struct Path {
  std::string_view folder;  // Empty at the top.
  std::string_view name;
};

Path SplitPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

// YYYY-MM-DD.json
bool IsDay(std::string_view name) {
  constexpr std::string_view kShape = "0000-00-00.json";
  if (name.size() != kShape.size()) return false;
  return std::equal(name.begin(), name.end(), kShape.begin(), [](char byte, char shape) {
    return shape == '0' ? byte >= '0' && byte <= '9' : byte == shape;
  });
}

// The beginning of the day in UTC. The name is one that IsDay accepts.
int64_t SecondsOfDay(std::string_view name) {
  const auto number = [&](size_t at, size_t size) {
    int value = 0;
    std::from_chars(name.data() + at, name.data() + at + size, value);
    return value;
  };
  const std::chrono::year_month_day day(std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2))));
  if (!day.ok()) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::sys_days(day).time_since_epoch())
      .count();
}

bool IsAttachment(std::string_view path) {
  for (const std::string_view folder : {"__uploads", "attachments"}) {
    const std::string inside = fmt::format("{}/", folder);
    if (path.starts_with(inside) || path.find("/" + inside) != std::string_view::npos) return true;
  }
  return false;
}

DatedText Dated(const Json& json, std::string_view name) {
  const auto value = json.Find(name);
  if (!value) return {};
  return {.text = TextIn(*value, "value"), .set = IntegerIn(*value, "last_set")};
}

// The flags of the entry count more than the list it is in, but never make a conversation public
// that is listed as private.
ConversationKind KindOf(const Json& json, ConversationKind listed) {
  if (IsTrueIn(json, "is_im") || IsTrueIn(json, "is_mpim")) return ConversationKind::kDirect;
  if (listed == ConversationKind::kPublic && IsTrueIn(json, "is_private")) {
    return ConversationKind::kPrivate;
  }
  return listed;
}

// A pinned file has the id of the file in place of a ts; it is left out.
std::vector<ExportPin> ReadPins(const Json& json) {
  std::vector<ExportPin> pins;
  const auto list = json.Find("pins");
  if (!list) return pins;
  for (const Json pin : list->Elements()) {
    auto ts = TimestampIn(pin, "id");
    if (!ts) continue;
    pins.push_back(
        {.ts = *std::move(ts), .user = TextIn(pin, "user"), .pinned = IntegerIn(pin, "created")});
  }
  return pins;
}

Result<ExportConversation> ReadConversation(const Json& json, ConversationKind listed) {
  return ExportConversation{.channel = TRY(slack::ChannelId::Parse(TextIn(json, "id"))),
                            .kind = KindOf(json, listed),
                            .name = TextIn(json, "name"),
                            .created = IntegerIn(json, "created"),
                            .archived = IsTrueIn(json, "is_archived"),
                            .topic = Dated(json, "topic"),
                            .purpose = Dated(json, "purpose"),
                            .pins = ReadPins(json)};
}

const ExportFile* FindFile(const std::vector<ExportFile>& files, const std::string& name) {
  const auto place =
      std::lower_bound(files.begin(), files.end(), name,
                       [](const auto& file, const auto& key) { return file.name < key; });
  return place != files.end() && place->name == name ? &*place : nullptr;
}

// slackdump's dumps have one file for each conversation: "C01234567.json", and for a thread
// "C01234567-1714557600.000100.json".
bool IsDumpOfConversation(std::string_view name) {
  constexpr std::string_view kEnd = ".json";
  if (!name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const std::string_view id = name.substr(0, name.find('-'));
  const bool is_conversation = id.starts_with('C') || id.starts_with('D') || id.starts_with('G');
  return is_conversation && slack::ChannelId::Parse(id).has_value();
}

// What to do with files that slackdump wrote in a format of its own. Empty when it did not.
std::string AdviceForSlackdump(const std::vector<ExportFile>& files) {
  for (const ExportFile& file : files) {
    const std::string_view name = SplitPath(file.name).name;
    if (name == "slackdump.sqlite" || name.ends_with(".json.gz")) {
      return fmt::format(
          "this is an archive of slackdump ({}), not an export: convert it with 'slackdump convert "
          "-f export -o export.zip' and the name of its folder, and import export.zip",
          file.name);
    }
    if (IsDumpOfConversation(name)) {
      return fmt::format(
          "this is a dump of slackdump ({}), not an export, and it has no lists of channels and "
          "people: make an export with 'slackdump export -o export.zip', and import export.zip",
          file.name);
    }
  }
  return {};
}

}  // namespace

void Problems::Add(std::string_view file, std::string_view reason) {
  std::lock_guard lock(mutex_);
  ++count_;
  if (examples_.size() < kMaxProblemExamples) {
    examples_.push_back({std::string(file), std::string(reason)});
  }
}

uint64_t Problems::count() const {
  std::lock_guard lock(mutex_);
  return count_;
}

std::vector<Problem> Problems::examples() const {
  std::lock_guard lock(mutex_);
  return examples_;
}

ExportReader::ExportReader(std::unique_ptr<ExportFiles> files, Problems* problems)
    : files_(std::move(files)), problems_(*problems) {}

Result<std::unique_ptr<ExportReader>> ExportReader::Open(const std::string& path,
                                                         Problems* problems) {
  return Open(TRY(OpenExportFiles(path)), problems).WithContext(fmt::format("'{}'", path));
}

Result<std::unique_ptr<ExportReader>> ExportReader::Open(std::unique_ptr<ExportFiles> files,
                                                         Problems* problems) {
  std::unique_ptr<ExportReader> reader(new ExportReader(std::move(files), problems));
  reader->FindWorkspaces();
  const bool has_days = std::ranges::any_of(reader->files_->files(), [](const ExportFile& file) {
    return IsDay(SplitPath(file.name).name);
  });
  // A dump may have a list of channels beside it. Then it would look like an export without days.
  const std::string advice = has_days ? "" : AdviceForSlackdump(reader->files_->files());
  if (!advice.empty()) return Invalid(advice);
  if (reader->workspaces_.empty()) {
    return Invalid(
        "this is not an export of Slack: it has no channels.json, groups.json, dms.json or "
        "mpims.json");
  }
  for (ExportWorkspace& workspace : reader->workspaces_) reader->ReadLists(&workspace);
  reader->AddDays();
  reader->FindUsers();
  return reader;
}

// A workspace is any folder with one of the lists in it. An ordinary export has one, at the top.
void ExportReader::FindWorkspaces() {
  std::set<std::string, std::less<>> folders;
  for (const ExportFile& file : files_->files()) {
    const Path path = SplitPath(file.name);
    for (const ListFile& list : kLists) {
      if (path.name == list.name) folders.emplace(path.folder);
    }
  }
  for (const std::string& folder : folders) workspaces_.push_back({.folder = folder});
}

void ExportReader::ReadLists(ExportWorkspace* workspace) {
  for (const ListFile& list : kLists) {
    const ExportFile* file = FindFile(files_->files(), JoinPath(workspace->folder, list.name));
    if (file == nullptr) continue;
    ReadObjects(*file, [&](const Json& json) {
      Result<ExportConversation> conversation = ReadConversation(json, list.kind);
      if (conversation) {
        workspace->conversations.push_back(*std::move(conversation));
      } else {
        problems_.Add(file->name, conversation.error().message);
      }
    });
  }
}

// A folder has the name of the channel, or the id of a direct conversation. Names come first, in
// case a channel is named like another one's id.
void ExportReader::AddDays() {
  std::map<std::string, ExportConversation*, std::less<>> by_folder;
  for (ExportWorkspace& workspace : workspaces_) {
    for (ExportConversation& one : workspace.conversations) {
      if (!one.name.empty()) by_folder.try_emplace(JoinPath(workspace.folder, one.name), &one);
    }
    for (ExportConversation& one : workspace.conversations) {
      by_folder.try_emplace(JoinPath(workspace.folder, one.channel.text()), &one);
    }
  }
  std::string last_stray;
  for (const ExportFile& file : files_->files()) {
    const Path path = SplitPath(file.name);
    if (IsAttachment(file.name)) attachments_.push_back(file);
    if (!IsDay(path.name)) continue;
    newest_day_ = std::max(newest_day_, SecondsOfDay(path.name));
    const auto place = by_folder.find(path.folder);
    if (place != by_folder.end()) {
      place->second->days.push_back(file);
    } else if (path.folder != last_stray) {
      last_stray = path.folder;
      problems_.Add(last_stray, "no list has a conversation for this folder, so it is left out");
    }
  }
}

// Looks for the list of users in the folder of the workspace and then in the folders above it: on
// Enterprise Grid all workspaces share the list at the top.
void ExportReader::FindUsers() {
  for (ExportWorkspace& workspace : workspaces_) {
    for (std::string_view folder = workspace.folder;; folder = SplitPath(folder).folder) {
      for (std::string_view name : {kUsers, kOrganisationUsers}) {
        const ExportFile* file = FindFile(files_->files(), JoinPath(folder, name));
        if (file != nullptr && !workspace.users) workspace.users = *file;
      }
      if (folder.empty()) break;
    }
  }
}

bool ExportReader::ReadRows(const ExportFile& file,
                            const std::function<void(std::string_view row)>& take) {
  bool whole = true;
  ArraySplitter splitter(kMaxExportRowBytes, [&](const ArrayElement& element) {
    if (element.too_large) {
      whole = false;
      problems_.Add(file.name, fmt::format("a row has more than {} bytes", kMaxExportRowBytes));
    } else {
      take(element.text);
    }
  });
  Status status = files_->Read(file, [&](std::string_view piece) -> Status {
    splitter.Feed(piece);
    return Done{};
  });
  if (status) status = splitter.Finish();
  if (!status) problems_.Add(file.name, status.error().message);
  return whole && status.has_value();
}

bool ExportReader::ReadObjects(const ExportFile& file,
                               const std::function<void(const Json&)>& take) {
  return ReadRows(file, [&](std::string_view row) {
    const Result<JsonDocument> document = slack::ParseBody(row);
    if (!document) {
      problems_.Add(file.name, document.error().message);
    } else if (!document->root().IsObject()) {
      problems_.Add(file.name, "a row is not an object");
    } else {
      take(document->root());
    }
  });
}

std::string WithoutLinkTokens(std::string_view text) {
  constexpr std::string_view kToken = "t=xoxe-";
  std::string clean;
  for (size_t at = text.find(kToken); at != std::string_view::npos; at = text.find(kToken)) {
    // With the '?' or '&' before it.
    clean += text.substr(0, at == 0 ? 0 : at - 1);
    const size_t end = text.find_first_of("\"&\\ <>|", at);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
  clean += text;
  return clean;
}

}  // namespace tidemark::archive
