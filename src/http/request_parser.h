// Reads requests off a stream of bytes, one after the other, and refuses what cannot be framed
// without doubt (see server.h).
//
//   bytes.remove_prefix(parser.Feed(bytes));
//   if (parser.state() == RequestParser::State::kComplete) Use(std::move(parser.request()));
//   parser.StartNext();
//
// How the bytes are cut into pieces changes nothing about the outcome. A refusal is final: nothing
// behind it is ever read. One owner; never throws, never blocks. Memory is bounded by the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/chunk_decoder.h"
#include "http/limits.h"
#include "http/message.h"

namespace tidemark::http {

class RequestParser {
 public:
  enum class State { kHead, kBody, kComplete, kRefused };
  struct Refusal {
    int status = 400;
    std::string_view detail = {};  // For the client; of static storage.
  };

  // The limits outlive the parser.
  explicit RequestParser(const ServerLimits& limits) : limits_(limits) {}

  // Returns how many bytes at the front were taken; the others must be given again, with what
  // came after them. An incomplete head is not taken at all.
  size_t Feed(std::string_view bytes);
  State state() const { return state_; }
  const Refusal& refusal() const { return refusal_; }  // When refused.

  // Whole when complete; without peer and id.
  Request& request() { return request_; }
  // From the head's end on: whether the client wants the connection kept, and whether it waits
  // for a 100 before it sends the body.
  bool keep_alive() const { return keep_alive_; }
  bool expects_continue() const { return expects_continue_; }
  bool is_http_10() const { return is_http_10_; }

  // Forgets the complete request: the next byte is another's.
  void StartNext();

 private:
  class Head;

  size_t FeedHead(std::string_view bytes);
  size_t FeedBody(std::string_view bytes);
  // The length of the head, once its end is there; 0 before, or when refused.
  size_t FindHeadEnd(std::string_view bytes);
  void ParseHead(std::string_view head);
  void StartBody(const Head& head);
  void Refuse(int status, std::string_view detail);

  const ServerLimits& limits_;
  State state_ = State::kHead;
  Refusal refusal_;
  Request request_;
  bool keep_alive_ = false;
  bool expects_continue_ = false;
  bool is_http_10_ = false;
  size_t line_start_ = 0;      // Of the first line of the head that has no end yet.
  size_t scanned_ = 0;         // No line ends before this.
  uint64_t body_missing_ = 0;  // Of a body with a length.
  std::optional<ChunkDecoder> chunks_;
};

}  // namespace tidemark::http
