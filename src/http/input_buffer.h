// Bytes that were received and not yet used: taken from the front, added at the back, always in
// one piece. Its memory grows as more is received at once, up to a bound, and is given back when
// nothing is in it. One owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace tidemark::http {

class InputBuffer {
 public:
  explicit InputBuffer(size_t max_bytes) : max_bytes_(max_bytes) {}

  std::string_view bytes() const { return {data_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

  // Where the next bytes may be written; empty when there are as many as may be. Valid until the
  // next call of anything but Added.
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

  // Called when nothing more is expected soon: many connections wait, few are busy.
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
