// The implementations of Objects that the contract tests. To add one, add a line to
// implementations.cc.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "objects/objects.h"
#include "tests/support/manual_time.h"

namespace tidemark::objects {

// An empty bucket.
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual Objects& objects() = 0;
  virtual ManualClock& clock() = 0;
};

struct Factory {
  std::string name;
  std::function<std::unique_ptr<Implementation>()> make;
};

inline void PrintTo(const Factory& factory, std::ostream* out) { *out << factory.name; }

std::vector<Factory> Implementations();

}  // namespace tidemark::objects
