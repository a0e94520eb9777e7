// The data folder around the database: how it is made, marked and synced (docs/formats/folder.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "tables/embedded/embedded_tables.h"

namespace rocksdb {
class Env;
class Status;
}  // namespace rocksdb

namespace tidemark::embedded {

class StoreFolder {
 public:
  // `env` must outlive this object.
  StoreFolder(rocksdb::Env* env, std::string path) : env_(env), path_(std::move(path)) {}

  std::string database() const { return path_ + "/tables"; }
  // Where links to the files of a backup are while it is made. They are on the disk of the store,
  // so that making them takes a moment.
  std::string links() const { return path_ + "/backup.making"; }
  // Removes them as far as possible.
  void RemoveLinks() const;

  // Checks that it is a data folder that this version can open. Makes it when it is missing or
  // empty, if the options allow that.
  Status Prepare(const Options& options) const;
  // The name of one entry of the folder; empty when the folder is missing or empty.
  Result<std::string> FirstChild() const;
  Status Make() const;
  // Makes a folder of this one, or above it.
  Status MakeOne(const std::string& folder) const;
  // Makes it a data folder.
  Status WriteMarker() const;
  // Makes the files in `links` the database of this folder: moves them, or copies them when they
  // are on another disk. kUnavailable when too little space would be left there.
  Status TakeDatabase(const std::string& links, StopFlag stop) const;
  rocksdb::Status Sync(const std::string& folder) const;
  rocksdb::Status SyncDatabase() const;

 private:
  std::string marker_file() const { return path_ + "/TIDEMARK"; }
  Status CopyDatabase(const std::string& links, StopFlag stop) const;
  Status CopyFile(const std::string& from, const std::string& to, StopFlag stop) const;

  rocksdb::Env* env_;
  const std::string path_;
};

// A copy leaves this much space on its disk, which may be the disk of a server.
inline constexpr uint64_t kFreeBytesAfterCopy = uint64_t{256} << 20;

// RocksDB makes its files readable to everybody, so the folder keeps other users out. If this
// fails, as on a file system without permissions, `tidemark doctor` says so.
void MakePrivate(const std::string& folder);

// What to tell a caller when the folder cannot be opened.
Error OpenError(const rocksdb::Status& status, const std::string& folder);

}  // namespace tidemark::embedded
