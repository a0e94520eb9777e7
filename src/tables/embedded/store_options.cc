#include "tables/embedded/store_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include "tables/embedded/trouble.h"

namespace tidemark::embedded {

namespace {

// A memtable is small, so that a search in it stays in the processor's cache. Several memtables are
// written into one file, so that there are not too many files.
constexpr size_t kMemtableBytes = 8 << 20;
constexpr int kMemtablesAFile = 4;
constexpr int kMaxMemtables = 2 * kMemtablesAFile;
constexpr size_t kMaxWalBytes = 256 << 20;

}  // namespace

rocksdb::ColumnFamilyOptions FamilyOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // A read that is not in the cache decompresses one block. Smaller blocks make ranges slower
  // (docs/decisions/0026-memory-for-reads.md).
  table.block_size = 16 << 10;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kLZ4Compression;
  options.write_buffer_size = kMemtableBytes;
  options.min_write_buffer_number_to_merge = kMemtablesAFile;
  options.max_write_buffer_number = kMaxMemtables;
  options.level_compaction_dynamic_level_bytes = true;
  options.memtable_protection_bytes_per_key = kProtectionBytes;
  // Most rows that are looked up before a write do not exist yet. The filter tells this without a
  // search.
  options.memtable_prefix_bloom_size_ratio = 0.02;
  options.memtable_whole_key_filtering = true;
  // The same for partitions: a query of an empty partition needs no search.
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPartitionPrefixBytes));
  return options;
}

rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env, const std::shared_ptr<Trouble>& trouble) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // A power cut may leave any part of the last batch. This mode stops at the first unreadable place
  // and drops the rest. Damage in front of acknowledged writes is found before RocksDB recovers
  // (CheckLogs, CheckReach).
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.track_and_verify_wals_in_manifest = true;
  options.recycle_log_file_num = 0;
  options.max_total_wal_size = kMaxWalBytes;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  // Files are synced while they grow. One large sync at their end would delay the sync of the log.
  options.bytes_per_sync = 1 << 20;
  options.max_background_jobs = 2;
  options.max_bgerror_resume_count = 0;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.keep_log_file_num = 5;
  options.max_log_file_size = 4 << 20;
  options.listeners = {trouble};
  return options;
}

}  // namespace tidemark::embedded
