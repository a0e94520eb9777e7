// A Secret holds a password, key or token so that it cannot leak by accident. It has no stream or
// format operator and no conversion, it is compared in constant time, and its memory is wiped in
// the destructor.
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
  // Takes the memory of the string; the caller keeps no copy.
  explicit Secret(std::string&& value);
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(const Secret& other);
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  // The bytes. Valid until this object is destroyed or assigned to.
  std::string_view Reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  // The time depends only on the lengths, not on where the bytes differ.
  friend bool operator==(const Secret& left, const Secret& right);

 private:
  void Wipe();

  std::string value_;
};

}  // namespace tidemark
