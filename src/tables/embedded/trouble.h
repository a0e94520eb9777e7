// Trouble remembers an error of the disk, from a write or from RocksDB's background work such as a
// flush. From then on the store refuses to write.
//
// Two causes pass: a full disk and exhausted descriptors. Once they are gone, the store is opened
// again (Store::Reopen). After every other error a person looks at the disk first. RocksDB must
// never resume by itself: after a failed sync the kernel may have dropped what it could not write.
//
// Any thread may call it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include <rocksdb/listener.h>

namespace tidemark::embedded {

class Trouble final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    Note(status->ToString());
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  // Keeps the first reason, until a worse one comes.
  void Note(const std::string& reason) {
    std::lock_guard lock(mutex_);
    if (stopped_ && (!passes_ || Passes(reason))) return;
    reason_ = reason;
    passes_ = Passes(reason);
    stopped_ = true;
  }
  // Forgets a cause that passes.
  void Clear() {
    std::lock_guard lock(mutex_);
    if (!passes_) return;
    passes_ = stopped_ = false;
    reason_.clear();
  }

  bool stopped() const { return stopped_; }
  // Stopped by a cause that passes.
  bool passes() const { return passes_; }
  std::string reason() const {
    std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  // By the system's text: RocksDB has no code for exhausted descriptors.
  static bool Passes(std::string_view reason) {
    return reason.find("No space left") != std::string_view::npos ||
           reason.find("Too many open files") != std::string_view::npos;
  }

  mutable std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> passes_ = false;
  std::string reason_;
};

}  // namespace tidemark::embedded
