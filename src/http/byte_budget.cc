#include "http/byte_budget.h"

#include <utility>

namespace tidemark::http {

bool ByteBudget::Take(const std::string& address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > max_bytes_) return false;
  const auto found = by_address_.find(address);
  const size_t held = found == by_address_.end() ? 0 : found->second;
  if (held + bytes > max_bytes_per_address_) return false;
  by_address_[address] = held + bytes;
  bytes_ += bytes;
  return true;
}

void ByteBudget::Give(const std::string& address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  found->second -= bytes;
  if (found->second == 0) by_address_.erase(found);
  bytes_ -= bytes;
}

TakenBytes::TakenBytes(ByteBudget* budget, std::string address)
    : budget_(budget), address_(std::move(address)) {}

bool TakenBytes::RaiseTo(size_t bytes) {
  if (budget_ == nullptr || bytes <= bytes_) return true;
  if (!budget_->Take(address_, bytes - bytes_)) return false;
  bytes_ = bytes;
  return true;
}

void TakenBytes::LowerTo(size_t bytes) {
  if (bytes_ <= bytes) return;
  budget_->Give(address_, bytes_ - bytes);
  bytes_ = bytes;
}

}  // namespace tidemark::http
