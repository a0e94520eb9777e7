// LogFiles is the file system that RocksDB gets. It differs from the one below it in one point: a
// log that cannot be created, as without descriptors or on a full disk, is reported when something
// is written to it, and not when it is created.
//
// RocksDB 7.8 handles a failed write to a log well. When it cannot create a log, it loses count of
// its references, and then aborts the process when it is closed. So the store could not be opened
// again once the cause is gone, and the program could not end in order.
//
// Any thread may call it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <rocksdb/file_system.h>

namespace tidemark::embedded {

class LogFiles final : public rocksdb::FileSystemWrapper {
 public:
  explicit LogFiles(std::shared_ptr<rocksdb::FileSystem> target)
      : FileSystemWrapper(std::move(target)) {}
  const char* Name() const override { return "LogFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
};

}  // namespace tidemark::embedded
