#include "objects/directory/lister.h"

#include <algorithm>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "objects/directory/file_ops.h"
#include "objects/directory/key_path.h"
#include "objects/directory/stored_file.h"

namespace tidemark::directory {

namespace {

struct Entry {
  std::string path;  // With a slash behind that of a folder.
  std::string key;   // Likewise: what the keys of the folder begin with.
  bool is_folder = false;
};

struct Name {
  std::string text;
  bool is_folder = false;
};

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// File systems may leave it to us to ask what an entry is.
unsigned char TypeOf(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat status {};
  if (fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
}

// Its files and folders, but for the hidden ones. A folder that is gone has none.
Result<std::vector<Name>> ReadNames(const Descriptor& root, const std::string& path) {
  std::vector<Name> names;
  const Descriptor descriptor(openat(root.get(), path.empty() ? "." : path.c_str(),
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return names;
    return SystemError("open the folder '" + path + "' to list it");
  }
  const int number = dup(descriptor.get());
  const std::unique_ptr<DIR, CloseFolder> folder(number < 0 ? nullptr : fdopendir(number));
  if (folder == nullptr) return SystemError("list the folder '" + path + "'");
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr && errno != 0) return SystemError("list the folder '" + path + "'");
    if (entry == nullptr) return names;
    const unsigned char type = TypeOf(number, *entry);
    const bool is_ours = entry->d_name[0] != '.' && (type == DT_DIR || type == DT_REG);
    if (is_ours) names.push_back({.text = entry->d_name, .is_folder = type == DT_DIR});
  }
}

class Walk {
 public:
  Walk(const Descriptor& root, const objects::ListRequest& request)
      : root_(root), request_(request) {}

  Result<objects::ListReply> Run() {
    const std::string& prefix = request_.prefix;
    if (prefix.size() > objects::kMaxKeyBytes) return std::move(reply_);
    const Entry start{.path = FolderOfKey(prefix),
                      .key = prefix.substr(0, prefix.rfind('/') + 1),
                      .is_folder = true};
    TRY(Visit(start));
    return std::move(reply_);
  }

 private:
  Status Visit(const Entry& entry) {
    if (!entry.is_folder) return VisitFile(entry);
    if (!MayHold(entry.key)) return Done();
    std::vector<Entry> entries;
    TRY(ReadEntries(entry, &entries));
    std::ranges::sort(entries, {}, &Entry::key);
    for (const Entry& inner : entries) {
      if (reply_.more) break;
      TRY(Visit(inner));
    }
    return Done();
  }

  // A part that is cut into pieces goes on in a folder of its own, but its keys stand among those
  // of this one.
  Status ReadEntries(const Entry& folder, std::vector<Entry>* entries) {
    const std::vector<Name> names = TRY(ReadNames(root_, folder.path));
    for (const Name& name : names) {
      const auto part = name.is_folder ? PartOfFolder(name.text) : PartOfFile(name.text);
      if (!part || folder.key.size() + part->text.size() > objects::kMaxKeyBytes) continue;
      Entry entry{.path = folder.path + name.text,
                  .key = folder.key + part->text,
                  .is_folder = name.is_folder};
      if (name.is_folder) entry.path += '/';
      if (name.is_folder && !part->continues) entry.key += '/';
      if (part->continues) {
        TRY(ReadEntries(entry, entries));
      } else {
        entries->push_back(std::move(entry));
      }
    }
    return Done();
  }

  // Whether keys with this front can be of the page.
  bool MayHold(const std::string& front) const {
    const bool may_have_prefix =
        front.starts_with(request_.prefix) || request_.prefix.starts_with(front);
    return may_have_prefix && (front > request_.after || request_.after.starts_with(front));
  }

  Status VisitFile(const Entry& entry) {
    if (!entry.key.starts_with(request_.prefix) || entry.key <= request_.after) return Done();
    if (KeyOfPath(entry.path) != entry.key) return Done();
    if (reply_.objects.size() == request_.limit) {
      reply_.more = true;
      return Done();
    }
    auto stored = TRY(OpenStored(root_, entry.key));
    if (stored) reply_.objects.push_back(std::move(stored->info));
    return Done();
  }

  const Descriptor& root_;
  const objects::ListRequest& request_;
  objects::ListReply reply_;
};

}  // namespace

Result<objects::ListReply> ListObjects(const Descriptor& root,
                                       const objects::ListRequest& request) {
  return Walk(root, request).Run();
}

}  // namespace tidemark::directory
