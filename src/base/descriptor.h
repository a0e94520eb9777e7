// Descriptor owns an open file or folder of the system, and closes it. Move-only.
#pragma once

#include <unistd.h>
#include <utility>

namespace tidemark {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes ownership. A negative number means that nothing is open.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace tidemark
