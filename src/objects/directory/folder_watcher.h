// FolderWatcher notices what other programs do to the objects of a folder: files that are written,
// copied, linked, moved or removed, and whole folders that are moved or created. It uses inotify,
// so it sees only changes on this machine.
//
//   auto watcher = TRY(FolderWatcher::Open({.folder = "data/objects", .prefix = "archive/"}));
//
// A file is reported when its writer closes it or when it is renamed, so that it is complete. A
// file that is changed without being closed, as truncate(2) does, is reported when it has not
// changed for a while. Objects that this process puts are not reported: they are renamed out of its
// temporary folder. Hidden files, links, and names that belong to no key are not reported either.
// If the kernel's queue overflows, or a folder is moved away with its files, the news are `all`.
//
// It never changes anything in the folder.
#pragma once

#include <chrono>
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
  std::string folder;       // The folder of DirectoryObjects, which must be open already.
  std::string prefix = {};  // Only keys with this prefix; other folders are not watched.
  // The kernel uses about 1 KB for each watched folder, and may allow fewer.
  size_t max_folders = 100'000;
  // How long a file that was changed and not closed must stay as it is.
  std::chrono::milliseconds quiet{1000};
};

class FolderWatcher final : public objects::Watcher {
 public:
  // Every change after this returns is noticed. Fails with kUnavailable if the kernel allows no
  // more watches for this user; the error names the limit to raise.
  static Result<std::unique_ptr<FolderWatcher>> Open(FolderWatcherOptions options);

  Result<objects::News> Wait(std::chrono::milliseconds patience) override;
  void Stop() override;

 private:
  struct Folder {
    std::string path;   // Relative to the root, with a slash at its end; "" is the root.
    std::string front;  // The prefix of the keys of its files.
  };
  struct Descriptors {
    Descriptor root;
    Descriptor inotify;
    Descriptor bell;  // Becomes readable with Stop.
  };

  FolderWatcher(FolderWatcherOptions options, Descriptors descriptors);
  // Returns nullopt if the name cannot be part of a key.
  static std::optional<Folder> InFolder(const Folder& around, const std::string& name);
  bool Matters(const Folder& folder) const;
  Status WatchTemporaryFolder();
  // Watches the folder and everything below it, unless it cannot contain keys with the prefix. The
  // files in it are news.
  void Watch(const Folder& folder, objects::News* news);
  void WatchAnew(objects::News* news);
  void Unwatch(const std::string& path);
  // Returns false if there is no such folder.
  bool AddWatch(const Folder& folder, objects::News* news);

  Status ReadEvents(objects::News* news);
  void Take(const inotify_event& event, objects::News* news);
  void TakeFolder(const Folder& folder, const inotify_event& event, objects::News* news);
  void TakeFile(const std::string& path, const inotify_event& event, objects::News* news);
  void Tell(const std::string& path, objects::News* news) const;
  // Reports the files that were changed, were not closed, and have not changed for long enough.
  void TellQuiet(objects::News* news);
  // The same time, or less when a file will be quiet before.
  std::chrono::milliseconds UntilQuiet(std::chrono::milliseconds patience) const;
  bool IsOwnMove(uint32_t cookie) const;

  const FolderWatcherOptions options_;
  const Descriptors descriptors_;
  std::map<int, Folder> folders_;  // By the kernel's watch number.
  int temporary_ = -1;             // The watch number of the temporary folder.
  // Moves out of the temporary folder, newest last. The event for the other end of each move comes
  // soon or never.
  std::deque<uint32_t> own_moves_;
  // The files that were changed and not closed since, with the time of the last change.
  std::map<std::string, std::chrono::steady_clock::time_point> unclosed_;
};

// The text that says why a folder cannot be watched and what to do, for this errno.
Error WatchError(const std::string& folder, int number);

}  // namespace tidemark::directory
