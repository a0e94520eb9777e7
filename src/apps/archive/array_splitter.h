// An ArraySplitter cuts a JSON array, which it gets piece by piece, into the texts of its elements.
// So a file of gigabytes needs only the memory of one element, and a malformed element does not
// affect the others.
//
//   ArraySplitter splitter(kMaxElementBytes, [&](const ArrayElement& element) { ... });
//   splitter.Feed(piece);
//   Status whole = splitter.Finish();
//
// It only looks at brackets and strings. The elements are not checked: the caller parses them. Used
// by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::archive {

struct ArrayElement {
  std::string_view text;   // Valid during the call.
  bool too_large = false;  // Over the limit; `text` is its beginning.
};

class ArraySplitter {
 public:
  using Take = std::function<void(const ArrayElement&)>;

  ArraySplitter(size_t max_element_bytes, Take take);

  void Feed(std::string_view piece);
  // kInvalid when the text was not an array, or was cut off. The elements given before are valid.
  Status Finish();

 private:
  // Where in the array the next byte is. kLost: the text is not an array.
  enum class Place { kBefore, kBetween, kInside, kBehind, kLost };

  const char* FeedOutside(const char* at, const char* end);
  const char* FeedInside(const char* at, const char* end);
  bool EndsElement(char byte);
  void Keep(std::string_view text);
  void Give();

  const size_t max_element_bytes_;
  const Take take_;
  Place place_ = Place::kBefore;
  std::string element_;
  bool too_large_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  size_t depth_ = 0;
};

}  // namespace tidemark::archive
