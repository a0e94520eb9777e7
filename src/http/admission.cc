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

}  // namespace tidemark::http
