#include "tables/embedded/status.h"

#include <fmt/format.h>
#include <rocksdb/status.h>

namespace tidemark::embedded {

namespace {

struct Meaning {
  ErrorCode code;
  std::string_view advice;
};

Meaning MeaningOf(const rocksdb::Status& status) {
  if (status.IsCorruption()) {
    return {ErrorCode::kCorrupt,
            "the data is damaged; restore a backup, and keep this folder for analysis"};
  }
  if (status.IsNoSpace())
    return {ErrorCode::kUnavailable, "the disk is full; free some space and open again"};
  if (status.IsIOError() || status.IsBusy() || status.IsTimedOut() || status.IsTryAgain()) {
    return {ErrorCode::kUnavailable, "check the disk and the folder's permissions"};
  }
  return {ErrorCode::kInternal, "please report this"};
}

}  // namespace

bool Mentions(const rocksdb::Status& status, std::string_view words) {
  return status.ToString().find(words) != std::string::npos;
}

Error ToError(const rocksdb::Status& status, std::string_view doing) {
  const Meaning meaning = MeaningOf(status);
  return {meaning.code, fmt::format("{}: {} ({})", doing, status.ToString(), meaning.advice)};
}

}  // namespace tidemark::embedded
