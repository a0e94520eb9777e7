// FolderWatcher notices what other programs do to the objects of a folder: files that are written,
// copied, linked, moved or removed, and whole folders that are moved or made. It asks the kernel
// (inotify), and so sees only what is done on this machine.
//
//   auto watcher = TRY(FolderWatcher::Open({.folder = "data/objects", .prefix = "archive/"}));
//
// A file is named when it is closed after writing or gets its name, so that it is seen whole; who
// keeps it open is waited for. Objects that this process puts are not named: they come out of its
// temporary folder. Hidden files, links and names of no key are not named either. When the kernel's
// queue overflows, or a folder is moved away with what was in it, the news are `all`.
//
// It never changes anything in the folder.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "objects/watcher.h"

struct inotify_event;

namespace tidemark::directory {

struct FolderWatcherOptions {
  std::string folder;       // That of DirectoryObjects, which has been opened already.
  std::string prefix = {};  // Of the keys that matter; folders without any are not watched.
  // The kernel keeps about 1 KB for each that is watched, and may allow fewer.
  size_t max_folders = 100'000;
};

class FolderWatcher final : public objects::Watcher {
 public:
  // Everything that changes after this returns is noticed. kUnavailable, saying what to raise, when
  // the kernel watches no more for this user.
  static Result<std::unique_ptr<FolderWatcher>> Open(FolderWatcherOptions options);

  Result<objects::News> Wait(std::chrono::milliseconds patience) override;
  void Stop() override;

 private:
  struct Folder {
    std::string path;   // Below the root, with a slash behind; "" is the root.
    std::string front;  // What the keys of its files begin with.
  };
  struct Descriptors {
    Descriptor root;
    Descriptor inotify;
    Descriptor bell;  // Readable from Stop on.
  };

  FolderWatcher(FolderWatcherOptions options, Descriptors descriptors);
  // nullopt when the name is that of no part of a key.
  static std::optional<Folder> InFolder(const Folder& around, const std::string& name);
  bool Matters(const Folder& folder) const;
  Status WatchTemporaryFolder();
  // With all below it, unless no key of the prefix can be there. What is in it is news.
  void Watch(const Folder& folder, objects::News* news);
  void WatchAnew(objects::News* news);
  void Unwatch(const std::string& path);
  // False when there is no such folder.
  bool AddWatch(const Folder& folder, objects::News* news);

  Status ReadEvents(objects::News* news);
  void Take(const inotify_event& event, objects::News* news);
  void TakeFolder(const Folder& folder, const inotify_event& event, objects::News* news);
  void TakeFile(const std::string& path, const inotify_event& event, objects::News* news);
  void Tell(const std::string& path, objects::News* news) const;
  bool IsOwnMove(uint32_t cookie) const;

  const FolderWatcherOptions options_;
  const Descriptors descriptors_;
  std::map<int, Folder> folders_;  // By the kernel's number.
  int temporary_ = -1;             // That of the temporary folder.
  // Moves out of the temporary folder, the newest last; their other ends come soon or never.
  std::deque<uint32_t> own_moves_;
};

// Why a folder cannot be watched, and what to do: of a system call that failed with this number.
Error WatchError(const std::string& folder, int number);

}  // namespace tidemark::directory
