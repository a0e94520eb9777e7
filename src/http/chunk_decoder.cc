#include "http/chunk_decoder.h"

#include <algorithm>

#include "base/ascii.h"

namespace tidemark::http {

namespace {

// A longer size could only have leading zeros, because no body may be that large.
constexpr size_t kMaxDigits = 16;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ChunkDecoder::Verdict ChunkDecoder::Decode(std::string_view* bytes, std::string* body) {
  while (!bytes->empty()) {
    if (state_ == State::kData) {
      const size_t taken = std::min<uint64_t>(size_, bytes->size());
      body->append(bytes->substr(0, taken));
      bytes->remove_prefix(taken);
      size_ -= taken;
      if (size_ == 0) state_ = State::kDataReturn;
      continue;
    }
    const Verdict verdict = Step(bytes->front(), body->size());
    if (verdict == Verdict::kMore || verdict == Verdict::kDone) bytes->remove_prefix(1);
    if (verdict != Verdict::kMore) return verdict;
  }
  return Verdict::kMore;
}

ChunkDecoder::Verdict ChunkDecoder::Step(char c, size_t body_bytes) {
  switch (state_) {
    case State::kFirstDigit:
    case State::kDigits:
      return Digit(c, body_bytes);
    case State::kExtension:
      return Text(c, State::kSizeLineFeed);
    case State::kSizeLineFeed:
      return Expect(c, '\n', size_ == 0 ? State::kTrailerStart : State::kData);
    case State::kDataReturn:
      return Expect(c, '\r', State::kDataLineFeed);
    case State::kDataLineFeed:
      return Expect(c, '\n', State::kFirstDigit);
    case State::kTrailerStart:
      return TrailerStart(c);
    case State::kTrailer:
      return Text(c, State::kTrailerLineFeed);
    case State::kTrailerLineFeed:
      return Expect(c, '\n', State::kTrailerStart);
    case State::kEndLineFeed:
      return Expect(c, '\n', State::kDone);
    case State::kData:
    case State::kDone:
      break;
  }
  return Verdict::kMalformed;
}

ChunkDecoder::Verdict ChunkDecoder::Expect(char c, char expected, State next) {
  if (c != expected) return Verdict::kMalformed;
  state_ = next;
  return next == State::kDone ? Verdict::kDone : Verdict::kMore;
}

ChunkDecoder::Verdict ChunkDecoder::Digit(char c, size_t body_bytes) {
  const int value = HexValue(c);
  if (state_ == State::kFirstDigit) {
    size_ = 0;
    digits_ = 0;
  }
  if (value < 0) return state_ == State::kDigits ? AfterSize(c) : Verdict::kMalformed;
  if (++digits_ > kMaxDigits) return Verdict::kMalformed;
  state_ = State::kDigits;
  size_ = size_ * 16 + static_cast<uint64_t>(value);
  // Checked after every digit, so a long size cannot overflow. The body is never larger than its
  // limit, so the difference is not negative.
  return size_ > bounds_.max_body_bytes - body_bytes ? Verdict::kBodyTooLarge : Verdict::kMore;
}

ChunkDecoder::Verdict ChunkDecoder::AfterSize(char c) {
  if (c != ';') return Expect(c, '\r', State::kSizeLineFeed);
  state_ = State::kExtension;
  return Verdict::kMore;
}

// Extensions and trailers are skipped. Their length is limited, because they are not part of the
// body and its limit.
ChunkDecoder::Verdict ChunkDecoder::Text(char c, State at_return) {
  if (c == '\r') {
    state_ = at_return;
    return Verdict::kMore;
  }
  if (IsControl(c)) return Verdict::kMalformed;
  return ++extra_bytes_ > bounds_.max_extra_bytes ? Verdict::kExtraTooLarge : Verdict::kMore;
}

ChunkDecoder::Verdict ChunkDecoder::TrailerStart(char c) {
  if (c == '\r') return Expect(c, '\r', State::kEndLineFeed);
  // A trailer that begins with white space would be folded into the one before.
  if (c == ' ' || c == '\t') return Verdict::kMalformed;
  state_ = State::kTrailer;
  return Text(c, State::kTrailerLineFeed);
}

}  // namespace tidemark::http
