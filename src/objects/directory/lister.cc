#include "objects/directory/lister.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "objects/directory/folder_names.h"
#include "objects/directory/key_path.h"
#include "objects/directory/stored_file.h"

namespace tidemark::directory {

namespace {

struct Entry {
  std::string path;  // A folder has a slash at its end.
  std::string key;   // For a folder, the prefix of its keys.
  bool is_folder = false;
};

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
    // A folder has the slash in its key, so it sorts where its objects sort: "a-b" before "a/b".
    std::ranges::sort(entries, {}, &Entry::key);
    for (const Entry& inner : entries) {
      if (reply_.more) break;
      TRY(Visit(inner));
    }
    return Done();
  }

  // A part that is cut into pieces continues in a folder, but its keys sort among the keys of this
  // folder.
  Status ReadEntries(const Entry& folder, std::vector<Entry>* entries) {
    const std::vector<FolderName> names = TRY(ReadNames(root_, folder.path));
    for (const FolderName& name : names) {
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

  // Whether keys with this prefix can be on the page.
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
