// The write-ahead logs of a folder, read before RocksDB reads them. RocksDB does not check that
// each log continues the one before it: it would skip the changes that are missing between them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tables/embedded/log_tail.h"

namespace rocksdb {
class Env;
class Status;
}  // namespace rocksdb

namespace tidemark::embedded {

struct ExaminedLog {
  std::string name;  // Such as "000012.log".
  LogTail tail;

  uint64_t number() const;
};

// Reads all logs, in the order of their numbers. A missing folder has none.
rocksdb::Status ExamineLogs(rocksdb::Env* env, const std::string& folder,
                            std::vector<ExaminedLog>* logs);

// The logs from the first one up to the first that does not continue the one before it, or up to a
// hole in one of them.
struct LogChain {
  size_t logs = 0;
  uint64_t reach = 0;     // The last sequence number; 0 when the logs are empty.
  bool has_hole = false;  // In the last of these logs.
};
LogChain ChainOf(std::span<const ExaminedLog> logs);

// Renames the log to NAME.log.unread, so that RocksDB does not read it.
rocksdb::Status PutAside(rocksdb::Env* env, const std::string& folder, const ExaminedLog& log);
// Keeps a copy of the log under that name, and cuts the log after its last complete batch. RocksDB
// stops at most holes by itself, but it skips a page of zeros and reads on.
rocksdb::Status CutOff(rocksdb::Env* env, const std::string& folder, const ExaminedLog& log);

}  // namespace tidemark::embedded
