// Converts RocksDB's Status to our Error.
#pragma once

#include <string_view>

#include "base/result.h"

namespace rocksdb {
class Status;
}

namespace tidemark::embedded {

// `doing` begins the message: "reading the rows: …". The status is not OK.
Error ToError(const rocksdb::Status& status, std::string_view doing);

// Whether the status's text contains these words. RocksDB has no code for many errors of the
// system.
bool Mentions(const rocksdb::Status& status, std::string_view words);

}  // namespace tidemark::embedded
