#include "http/admission.h"

namespace tidemark::http {

bool Admission::Enter(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (total_ >= limits_.max_connections) return false;
  size_t& count = by_address_[address];
  if (count >= limits_.max_connections_per_address) return false;
  ++count;
  ++total_;
  return true;
}

void Admission::Leave(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  // Entries are removed, so the map is never larger than the number of open connections.
  if (--found->second == 0) by_address_.erase(found);
  --total_;
}

bool Admission::TakeBodyBytes(const std::string& address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (body_bytes_ + bytes > limits_.max_body_bytes_at_once) return false;
  // Not operator[]: an address that is refused must not leave an entry.
  const auto found = body_bytes_by_address_.find(address);
  const size_t held = found == body_bytes_by_address_.end() ? 0 : found->second;
  if (held + bytes > limits_.max_body_bytes_per_address) return false;
  body_bytes_by_address_[address] = held + bytes;
  body_bytes_ += bytes;
  return true;
}

void Admission::GiveBodyBytes(const std::string& address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = body_bytes_by_address_.find(address);
  found->second -= bytes;
  if (found->second == 0) body_bytes_by_address_.erase(found);
  body_bytes_ -= bytes;
}

}  // namespace tidemark::http
