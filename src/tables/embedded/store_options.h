// The options with which the store opens RocksDB.
#pragma once

#include <cstddef>
#include <memory>

#include <rocksdb/options.h>

namespace tidemark::embedded {

class Trouble;

inline constexpr size_t kProtectionBytes = 8;
// The first bytes of a row's key: its keyspace and the hash of its partition.
inline constexpr size_t kPartitionPrefixBytes = 8;

rocksdb::ColumnFamilyOptions FamilyOptions(const std::shared_ptr<rocksdb::Cache>& cache);
rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env, const std::shared_ptr<Trouble>& trouble);

}  // namespace tidemark::embedded
