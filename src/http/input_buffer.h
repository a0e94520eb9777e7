// Bytes that were received and not used yet. They are taken from the front and added at the back,
// and are always contiguous. The memory grows up to a limit and is freed when the buffer is empty.
// One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace tidemark::http {

class InputBuffer {
 public:
  explicit InputBuffer(size_t max_bytes) : max_bytes_(max_bytes) {}

  std::string_view bytes() const { return {data_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

  // Where the next bytes may be written; empty when the limit is reached. Valid until the next call
  // of a method other than Added.
  std::span<char> Room() {
    if (begin_ > 0) MoveToFront();
    if (end_ == capacity_) Grow();
    return {data_.get() + end_, capacity_ - end_};
  }
  void Added(size_t count) { end_ += count; }
  void Consume(size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Called when no more bytes are expected soon, to save memory: most connections are idle.
  void Shrink() {
    if (!empty() || capacity_ <= kKeptBytes) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr size_t kFirstBytes = 4 << 10;
  static constexpr size_t kKeptBytes = 16 << 10;

  void MoveToFront() {
    std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }

  void Grow() {
    const size_t larger = std::min(std::max(capacity_ * 2, kFirstBytes), max_bytes_);
    if (larger <= capacity_) return;
    auto data = std::make_unique_for_overwrite<char[]>(larger);
    if (end_ > 0) std::memcpy(data.get(), data_.get(), end_);
    data_ = std::move(data);
    capacity_ = larger;
  }

  const size_t max_bytes_;
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace tidemark::http
