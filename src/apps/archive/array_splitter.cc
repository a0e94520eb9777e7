#include "apps/archive/array_splitter.h"

#include <utility>

namespace tidemark::archive {

namespace {

bool IsSpace(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

// The byte order mark that some editors write at the beginning of UTF-8 files.
bool IsOfByteOrderMark(char byte) { return byte == '\xEF' || byte == '\xBB' || byte == '\xBF'; }

// Skips to the end of the string or to the next escape.
const char* SkipString(const char* at, const char* end) {
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

}  // namespace

ArraySplitter::ArraySplitter(size_t max_element_bytes, Take take)
    : max_element_bytes_(max_element_bytes), take_(std::move(take)) {}

void ArraySplitter::Feed(std::string_view piece) {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  while (at != end && place_ != Place::kLost) {
    at = place_ == Place::kInside ? FeedInside(at, end) : FeedOutside(at, end);
  }
}

const char* ArraySplitter::FeedOutside(const char* at, const char* end) {
  for (; at != end; ++at) {
    if (IsSpace(*at)) continue;
    if (place_ == Place::kBefore) {
      if (IsOfByteOrderMark(*at)) continue;
      place_ = *at == '[' ? Place::kBetween : Place::kLost;
    } else if (place_ == Place::kBehind) {
      place_ = Place::kLost;
    } else if (*at == ']') {
      place_ = Place::kBehind;
    } else if (*at != ',') {
      place_ = Place::kInside;
      return at;
    }
    if (place_ == Place::kLost) return end;
  }
  return end;
}

const char* ArraySplitter::FeedInside(const char* at, const char* end) {
  const char* const begin = at;
  for (; at != end; ++at) {
    if (in_string_ && !escaped_) at = SkipString(at, end);
    if (at == end) break;
    if (!EndsElement(*at)) continue;
    Keep({begin, static_cast<size_t>(at - begin)});
    Give();
    return at;
  }
  Keep({begin, static_cast<size_t>(end - begin)});
  return end;
}

// Whether the byte ends the element: a comma or closing bracket of the array itself.
bool ArraySplitter::EndsElement(char byte) {
  if (std::exchange(escaped_, false)) return false;
  if (in_string_) {
    escaped_ = byte == '\\';
    in_string_ = byte != '"';
    return false;
  }
  switch (byte) {
    case '"':
      in_string_ = true;
      return false;
    case '{':
    case '[':
      ++depth_;
      return false;
    case '}':
    case ']':
      if (depth_ == 0) return byte == ']';
      --depth_;
      return false;
    case ',':
      return depth_ == 0;
    default:
      return false;
  }
}

void ArraySplitter::Keep(std::string_view text) {
  const size_t room = max_element_bytes_ - element_.size();
  if (text.size() > room) too_large_ = true;
  element_.append(text.substr(0, room));
}

void ArraySplitter::Give() {
  std::string_view text = element_;
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  take_({.text = text, .too_large = too_large_});
  element_.clear();
  too_large_ = false;
  place_ = Place::kBetween;
}

Status ArraySplitter::Finish() {
  switch (place_) {
    case Place::kBehind:
      return Done{};
    case Place::kBefore:
      return Invalid("the file is empty: it should hold a JSON array");
    case Place::kBetween:
    case Place::kInside:
      return Invalid("the file is cut off: the JSON array has no end");
    case Place::kLost:
      return Invalid("the file is not a JSON array, or has something after it");
  }
  return Done{};
}

}  // namespace tidemark::archive
