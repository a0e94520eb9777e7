#include "objects/directory/folder_watcher.h"

#include <algorithm>
#include <array>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/directory/file_ops.h"
#include "objects/directory/folder_names.h"
#include "objects/directory/key_path.h"

namespace tidemark::directory {

namespace {

using objects::News;

constexpr uint32_t kChanges =
    IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
constexpr size_t kBufferBytes = 64 << 10;
// The two events of a move are next to each other in the queue, unless others write at that moment.
constexpr size_t kMaxOwnMoves = 256;

bool IsGone(int number) { return number == ENOENT || number == ENOTDIR || number == ELOOP; }

Error NoMoreFolders(const std::string& folder, std::string_view limit) {
  return {ErrorCode::kUnavailable,
          fmt::format("what other programs change in '{}' is not noticed: {}; until then, "
                      "'tidemark documents fsck' finds it",
                      folder, limit)};
}

}  // namespace

Error WatchError(const std::string& folder, int number) {
  if (number == ENOSPC) {
    return NoMoreFolders(folder,
                         "the kernel watches no more folders for this user: raise the limit with "
                         "'sysctl fs.inotify.max_user_watches=524288' and start again");
  }
  if (number == EMFILE) {
    return NoMoreFolders(folder,
                         "this user has too many watchers, or the process too many files open: "
                         "raise 'sysctl fs.inotify.max_user_instances' and start again");
  }
  return NoMoreFolders(folder, std::generic_category().message(number));
}

FolderWatcher::FolderWatcher(FolderWatcherOptions options, Descriptors descriptors)
    : options_(std::move(options)), descriptors_(std::move(descriptors)) {}

Result<std::unique_ptr<FolderWatcher>> FolderWatcher::Open(FolderWatcherOptions options) {
  Descriptors descriptors;
  descriptors.root = Descriptor(open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptors.root.is_open()) return SystemError("open the folder '" + options.folder + "'");
  descriptors.inotify = Descriptor(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!descriptors.inotify.is_open()) return WatchError(options.folder, errno);
  descriptors.bell = Descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!descriptors.bell.is_open()) return SystemError("make an eventfd");
  std::unique_ptr<FolderWatcher> watcher(
      new FolderWatcher(std::move(options), std::move(descriptors)));
  TRY(watcher->WatchTemporaryFolder());
  // Files that exist already are not news.
  News found;
  watcher->Watch({}, &found);
  if (found.problems.empty()) return watcher;
  return Error{ErrorCode::kUnavailable, std::move(found.problems.front())};
}

Status FolderWatcher::WatchTemporaryFolder() {
  const std::string path = options_.folder + "/" + kTemporaryFolder;
  temporary_ = inotify_add_watch(descriptors_.inotify.get(), path.c_str(), IN_MOVED_FROM);
  if (temporary_ < 0) return WatchError(path, errno);
  return Done();
}

std::optional<FolderWatcher::Folder> FolderWatcher::InFolder(const Folder& around,
                                                             const std::string& name) {
  const auto part = PartOfFolder(name);
  if (!part) return std::nullopt;
  return Folder{.path = around.path + name + "/",
                .front = around.front + part->text + (part->continues ? "" : "/")};
}

bool FolderWatcher::Matters(const Folder& folder) const {
  return folder.front.starts_with(options_.prefix) || options_.prefix.starts_with(folder.front);
}

bool FolderWatcher::AddWatch(const Folder& folder, News* news) {
  // Open it without the slash: with a slash, a link would be followed.
  std::string path = options_.folder + "/" + folder.path;
  path.pop_back();
  if (folders_.size() >= options_.max_folders) {
    news->problems.push_back(WatchError(path, ENOSPC).message);
    return true;
  }
  const int number =
      inotify_add_watch(descriptors_.inotify.get(), path.c_str(), kChanges | IN_DONT_FOLLOW);
  const int reason = number < 0 ? errno : 0;
  if (number >= 0) folders_[number] = folder;
  if (IsGone(reason)) return false;
  if (number < 0) news->problems.push_back(WatchError(path, reason).message);
  return true;
}

void FolderWatcher::Watch(const Folder& folder, News* news) {
  // Watch first, then read: a file that appears in between is reported twice. In the other order it
  // would be missed.
  if (!Matters(folder) || !AddWatch(folder, news)) return;
  const auto names = ReadNames(descriptors_.root, folder.path);
  if (!names) {
    news->problems.push_back(names.error().message);
    return;
  }
  for (const FolderName& name : *names) {
    if (!name.is_folder) {
      Tell(folder.path + name.text, news);
    } else if (const auto inner = InFolder(folder, name.text)) {
      Watch(*inner, news);
    }
  }
}

void FolderWatcher::WatchAnew(News* news) {
  for (const auto& [number, folder] : folders_) {
    inotify_rm_watch(descriptors_.inotify.get(), number);
  }
  folders_.clear();
  unclosed_.clear();
  Watch({}, news);
}

void FolderWatcher::Unwatch(const std::string& path) {
  std::erase_if(folders_, [&](const auto& entry) {
    if (!entry.second.path.starts_with(path)) return false;
    inotify_rm_watch(descriptors_.inotify.get(), entry.first);
    return true;
  });
}

Result<News> FolderWatcher::Wait(std::chrono::milliseconds patience) {
  News news;
  std::array<pollfd, 2> waits{{{.fd = descriptors_.inotify.get(), .events = POLLIN, .revents = 0},
                               {.fd = descriptors_.bell.get(), .events = POLLIN, .revents = 0}}};
  const auto timeout = UntilQuiet(patience);
  const int ready = poll(waits.data(), waits.size(), static_cast<int>(timeout.count()));
  if (ready < 0 && errno != EINTR) return SystemError("wait for changes of the objects");
  if (waits[1].revents != 0) return news;
  if (ready > 0) TRY(ReadEvents(&news));
  TellQuiet(&news);
  return news;
}

void FolderWatcher::Stop() { (void)eventfd_write(descriptors_.bell.get(), 1); }

Status FolderWatcher::ReadEvents(News* news) {
  alignas(inotify_event) std::array<char, kBufferBytes> buffer;
  for (;;) {
    const ssize_t size = read(descriptors_.inotify.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return Done();
    if (size < 0) return SystemError("read the changes of the objects");
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      Take(*event, news);
      at += sizeof(inotify_event) + event->len;
    }
  }
}

void FolderWatcher::Take(const inotify_event& event, News* news) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    news->all = true;
    WatchAnew(news);
    return;
  }
  if (event.wd == temporary_) {
    own_moves_.push_back(event.cookie);
    if (own_moves_.size() > kMaxOwnMoves) own_moves_.pop_front();
    return;
  }
  // An unknown watch number belongs to a folder that is no longer watched.
  const auto found = folders_.find(event.wd);
  if (found == folders_.end()) return;
  if ((event.mask & IN_IGNORED) != 0) {
    folders_.erase(found);
    return;
  }
  if (event.len == 0 || event.name[0] == '.') return;
  if ((event.mask & IN_ISDIR) == 0) {
    TakeFile(found->second.path + event.name, event, news);
  } else if (const auto folder = InFolder(found->second, event.name)) {
    TakeFolder(*folder, event, news);
  }
}

void FolderWatcher::TakeFolder(const Folder& folder, const inotify_event& event, News* news) {
  if (!Matters(folder)) return;
  if ((event.mask & IN_MOVED_FROM) != 0) {
    // The kernel does not say which files were in the folder.
    Unwatch(folder.path);
    news->all = true;
  } else if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    Watch(folder, news);
  }
}

void FolderWatcher::TakeFile(const std::string& path, const inotify_event& event, News* news) {
  // Writes are followed by a close; only a change by path is not. So it waits.
  if ((event.mask & IN_MODIFY) != 0) {
    unclosed_[path] = std::chrono::steady_clock::now();
    return;
  }
  unclosed_.erase(path);
  if ((event.mask & IN_CREATE) != 0) {
    // A new file is reported again when it is closed. A link to an existing file is not, so it is
    // reported now.
    struct stat status {};
    const bool is_there =
        fstatat(descriptors_.root.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there || status.st_nlink < 2) return;
  }
  if ((event.mask & IN_MOVED_TO) != 0 && IsOwnMove(event.cookie)) return;
  Tell(path, news);
}

std::chrono::milliseconds FolderWatcher::UntilQuiet(std::chrono::milliseconds patience) const {
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [path, changed] : unclosed_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(changed + options_.quiet - now);
    patience = std::clamp(left, std::chrono::milliseconds(0), patience);
  }
  return patience;
}

void FolderWatcher::TellQuiet(News* news) {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(unclosed_, [&](const auto& file) {
    const bool is_quiet = now - file.second >= options_.quiet;
    if (is_quiet) Tell(file.first, news);
    return is_quiet;
  });
}

bool FolderWatcher::IsOwnMove(uint32_t cookie) const {
  return std::ranges::find(own_moves_, cookie) != own_moves_.end();
}

void FolderWatcher::Tell(const std::string& path, News* news) const {
  auto key = KeyOfPath(path);
  if (key && key->starts_with(options_.prefix)) news->keys.push_back(*std::move(key));
}

}  // namespace tidemark::directory
