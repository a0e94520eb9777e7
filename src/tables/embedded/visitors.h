// Visitors counts who uses something now, so that it can be closed while nobody does.
//
//   const Visit visit = visitors.Enter();
//   if (!visit) return ...;  // It is closed.
//   ... use it as long as `visit` lives ...
//
// Any thread may enter; one thread closes and opens.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace tidemark::embedded {

class Visitors {
 public:
  struct Leave {
    void operator()(Visitors* visited) const { --visited->count_; }
  };
  using Visit = std::unique_ptr<Visitors, Leave>;

  // Null when it is closed.
  Visit Enter() {
    // First the count and then the flag, and TryClose does it in the other order: so at least one
    // of the two sees the other.
    ++count_;
    Visit visit(this);
    if (closed_) visit.reset();
    return visit;
  }
  // False when somebody is inside; then it stays open.
  bool TryClose() {
    const bool was_closed = closed_.exchange(true);
    if (was_closed || count_ == 0) return true;
    closed_ = false;
    return false;
  }
  void Open() { closed_ = false; }

 private:
  std::atomic<bool> closed_ = false;
  std::atomic<uint64_t> count_ = 0;
};

using Visit = Visitors::Visit;

}  // namespace tidemark::embedded
