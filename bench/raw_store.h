// Plain RocksDB to compare with: it is opened as the embedded tables open it, and has rows with the
// same keys and bytes, but no semantics of tables.
#pragma once

#include <memory>
#include <string>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include "base/check.h"

namespace tidemark::bench {

class RawStore {
 public:
  explicit RawStore(const std::string& folder) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(64 << 20);
    table.block_size = 16 << 10;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.compression = rocksdb::kLZ4Compression;
    options.write_buffer_size = 8 << 20;
    options.min_write_buffer_number_to_merge = 4;
    options.max_write_buffer_number = 8;
    options.level_compaction_dynamic_level_bytes = true;
    rocksdb::DB* opened = nullptr;
    CHECK(rocksdb::DB::Open(options, folder, &opened).ok());
    database_.reset(opened);
  }

  rocksdb::DB& database() { return *database_; }

  bool Get(const std::string& key, std::string* value) {
    return database_->Get(rocksdb::ReadOptions(), key, value).ok();
  }
  void Put(const std::string& key, const std::string& value, bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    CHECK(database_->Put(options, key, value).ok());
  }
  void Write(rocksdb::WriteBatch* batch, bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    CHECK(database_->Write(options, batch).ok());
  }

 private:
  std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace tidemark::bench
