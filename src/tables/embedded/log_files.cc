#include "tables/embedded/log_files.h"

namespace tidemark::embedded {

namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// It holds nothing. The reason why it was not created is the error of every write and sync.
class UnmadeLog final : public FSWritableFile {
 public:
  explicit UnmadeLog(IOStatus reason) : reason_(std::move(reason)) {}

  using FSWritableFile::Append;
  IOStatus Append(const rocksdb::Slice&, const IOOptions&, IODebugContext*) override {
    return reason_;
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return reason_; }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const IOStatus reason_;
};

}  // namespace

IOStatus LogFiles::NewWritableFile(const std::string& path, const FileOptions& options,
                                   std::unique_ptr<FSWritableFile>* result, IODebugContext* debug) {
  IOStatus made = target()->NewWritableFile(path, options, result, debug);
  if (made.ok() || !path.ends_with(".log")) return made;
  *result = std::make_unique<UnmadeLog>(std::move(made));
  return IOStatus::OK();
}

}  // namespace tidemark::embedded
