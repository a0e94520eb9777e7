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
  if (--found->second == 0) by_address_.erase(found);
  --total_;
}

bool Admission::TakeBodyBytes(size_t bytes) {
  if (body_bytes_.fetch_add(bytes) + bytes <= limits_.max_body_bytes_at_once) return true;
  GiveBodyBytes(bytes);
  return false;
}

}  // namespace tidemark::http
