// A Secret holds a password, key or token so that it cannot leak by accident: it has no
// stream or format operator and converts to nothing, it compares in constant time, and it
// is wiped when it goes.
//
//   Secret key(TRY(ReadKey()));
//   Sign(request, key.Reveal());   // The one way to the bytes, easy to search for.
//
// Moving wipes the source. A Secret may be read from any thread.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

class Secret {
 public:
  Secret() = default;
  // Takes the string's memory over; the caller keeps no copy.
  explicit Secret(std::string&& value);
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(const Secret& other);
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  // The bytes, for as long as this object lives and is not assigned to.
  std::string_view Reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  // The time depends on the lengths alone, not on where the bytes differ.
  friend bool operator==(const Secret& left, const Secret& right);

 private:
  void Wipe();

  std::string value_;
};

}  // namespace tidemark
