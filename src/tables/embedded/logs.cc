#include "tables/embedded/logs.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include <rocksdb/env.h>

#include "tables/embedded/status.h"

namespace tidemark::embedded {

namespace {

constexpr char kUnread[] = ".unread";
constexpr char kCut[] = ".cut";

rocksdb::Status ReadLog(rocksdb::Env* env, const std::string& path, LogTail* tail) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  rocksdb::Status status = env->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  std::string scratch(LogTail::kBlockBytes, '\0');
  rocksdb::Slice block;
  do {
    if (status.ok()) status = file->Read(scratch.size(), &block, scratch.data());
    if (status.ok()) tail->Add(std::string_view(block.data(), block.size()));
  } while (status.ok() && block.size() == scratch.size());
  return status;
}

}  // namespace

uint64_t ExaminedLog::number() const { return std::strtoull(name.c_str(), nullptr, 10); }

rocksdb::Status ExamineLogs(rocksdb::Env* env, const std::string& folder,
                            std::vector<ExaminedLog>* logs) {
  std::vector<std::string> names;
  rocksdb::Status status = env->GetChildren(folder, &names);
  if (status.IsNotFound() || Mentions(status, "No such file")) return {};
  for (std::string& name : names) {
    if (name.ends_with(".log")) logs->push_back({.name = std::move(name), .tail = {}});
  }
  std::sort(logs->begin(), logs->end(), [](const ExaminedLog& one, const ExaminedLog& other) {
    return one.number() < other.number();
  });
  for (ExaminedLog& log : *logs) {
    if (status.ok()) status = ReadLog(env, folder + "/" + log.name, &log.tail);
  }
  return status;
}

LogChain ChainOf(std::span<const ExaminedLog> logs) {
  LogChain chain;
  for (const ExaminedLog& log : logs) {
    const uint64_t first = log.tail.first_sequence();
    if (chain.reach > 0 && first > chain.reach + 1) break;
    chain.reach = std::max(chain.reach, log.tail.last_sequence());
    ++chain.logs;
    chain.has_hole = log.tail.end() == LogEnd::kDamaged;
    if (chain.has_hole) break;
  }
  return chain;
}

rocksdb::Status PutAside(rocksdb::Env* env, const std::string& folder, const ExaminedLog& log) {
  const std::string path = folder + "/" + log.name;
  return env->RenameFile(path, path + kUnread);
}

rocksdb::Status CutOff(rocksdb::Env* env, const std::string& folder, const ExaminedLog& log) {
  const std::string path = folder + "/" + log.name;
  std::string bytes;
  rocksdb::Status status = rocksdb::ReadFileToString(env, path, &bytes);
  // Both files are on disk before the log is replaced. A power cut before that leaves it whole.
  if (status.ok()) status = rocksdb::WriteStringToFile(env, bytes, path + kUnread, true);
  bytes.resize(std::min<size_t>(bytes.size(), log.tail.whole_bytes()));
  if (status.ok()) status = rocksdb::WriteStringToFile(env, bytes, path + kCut, true);
  return status.ok() ? env->RenameFile(path + kCut, path) : status;
}

}  // namespace tidemark::embedded
