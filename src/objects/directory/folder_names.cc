#include "objects/directory/folder_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "objects/directory/file_ops.h"

namespace tidemark::directory {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Some file systems do not report the type of an entry; then we must ask for it.
unsigned char TypeOf(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat status {};
  if (fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
}

}  // namespace

Result<std::vector<FolderName>> ReadNames(const Descriptor& root, const std::string& path) {
  std::vector<FolderName> names;
  const Descriptor descriptor(openat(root.get(), path.empty() ? "." : path.c_str(),
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return names;
    return SystemError("open the folder '" + path + "' to list it");
  }
  // closedir closes a descriptor, and `descriptor` closes its own. So closedir gets a copy.
  const int number = dup(descriptor.get());
  const std::unique_ptr<DIR, CloseFolder> folder(number < 0 ? nullptr : fdopendir(number));
  if (folder == nullptr) return SystemError("list the folder '" + path + "'");
  for (;;) {
    // At the end and after an error, readdir returns the same. Only errno tells them apart.
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr && errno != 0) return SystemError("list the folder '" + path + "'");
    if (entry == nullptr) return names;
    const unsigned char type = TypeOf(number, *entry);
    const bool is_ours = entry->d_name[0] != '.' && (type == DT_DIR || type == DT_REG);
    if (is_ours) names.push_back({.text = entry->d_name, .is_folder = type == DT_DIR});
  }
}

}  // namespace tidemark::directory
