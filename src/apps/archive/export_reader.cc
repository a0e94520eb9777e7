#include "apps/archive/export_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/array_splitter.h"
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

std::string Text(const Json& json, std::string_view name) {
  const auto value = json.Find(name);
  return std::string(value ? value->AsString().value_or("") : "");
}

int64_t Int(const Json& json, std::string_view name) {
  const auto value = json.Find(name);
  return value ? value->AsInt().value_or(0) : 0;
}

bool Flag(const Json& json, std::string_view name) {
  const auto value = json.Find(name);
  return value && value->AsBool().value_or(false);
}

DatedText Dated(const Json& json, std::string_view name) {
  const auto value = json.Find(name);
  if (!value) return {};
  return {.text = Text(*value, "value"), .set = Int(*value, "last_set")};
}

// What the entry says of itself counts more than the list it stands in, unless it would make
// public what is not.
ConversationKind KindOf(const Json& json, ConversationKind listed) {
  if (Flag(json, "is_im") || Flag(json, "is_mpim")) return ConversationKind::kDirect;
  if (listed == ConversationKind::kPublic && Flag(json, "is_private")) {
    return ConversationKind::kPrivate;
  }
  return listed;
}

Result<ExportConversation> ReadConversation(const Json& json, ConversationKind listed) {
  return ExportConversation{.channel = TRY(slack::ChannelId::Parse(Text(json, "id"))),
                            .kind = KindOf(json, listed),
                            .name = Text(json, "name"),
                            .created = Int(json, "created"),
                            .archived = Flag(json, "is_archived"),
                            .topic = Dated(json, "topic"),
                            .purpose = Dated(json, "purpose")};
}

const ExportFile* FindFile(const std::vector<ExportFile>& files, const std::string& name) {
  const auto place =
      std::lower_bound(files.begin(), files.end(), name,
                       [](const auto& file, const auto& key) { return file.name < key; });
  return place != files.end() && place->name == name ? &*place : nullptr;
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
  if (reader->workspaces_.empty()) {
    return Invalid(
        "this is no export of Slack: it has none of channels.json, groups.json, dms.json and "
        "mpims.json");
  }
  for (ExportWorkspace& workspace : reader->workspaces_) reader->ReadLists(&workspace);
  reader->AddDays();
  reader->FindUsers();
  return reader;
}

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

// A folder is called after the channel's name or, for direct conversations, its id.
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
    if (!IsDay(path.name)) continue;
    const auto place = by_folder.find(path.folder);
    if (place != by_folder.end()) {
      place->second->days.push_back(file);
    } else if (path.folder != last_stray) {
      last_stray = path.folder;
      problems_.Add(last_stray, "no list names a conversation for this folder: it is left out");
    }
  }
}

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
  ArraySplitter splitter(kMaxExportRowBytes, [&](const ArrayElement& element) {
    if (element.too_large) {
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
  return status.has_value();
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
