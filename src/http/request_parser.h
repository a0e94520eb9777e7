// Parses requests from a stream of bytes, one after the other. It refuses a request whose end is
// ambiguous (see server.h).
//
//   bytes.remove_prefix(parser.Feed(bytes));
//   if (parser.state() == RequestParser::State::kComplete) Use(std::move(parser.request()));
//   parser.StartNext();
//
// The result does not depend on how the bytes are split into pieces. A refusal is final: no byte
// after it is read. One thread at a time. It never throws and never blocks. The limits bound its
// memory.
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

  // Returns how many bytes at the front were used. The caller gives the others again, together with
  // the bytes that came after them. An incomplete head is not used at all.
  size_t Feed(std::string_view bytes);
  State state() const { return state_; }
  const Refusal& refusal() const { return refusal_; }  // When refused.

  // Complete in state kComplete. Peer and id are not set.
  Request& request() { return request_; }
  // Valid after the head: whether the client wants to keep the connection, and whether it waits for
  // a 100 before it sends the body.
  bool keep_alive() const { return keep_alive_; }
  bool expects_continue() const { return expects_continue_; }
  bool is_http_10() const { return is_http_10_; }

  // Forgets the complete request. The next byte belongs to another request.
  void StartNext();

 private:
  class Head;

  size_t FeedHead(std::string_view bytes);
  size_t FeedBody(std::string_view bytes);
  // The length of the head. 0 while its end has not come, and when it is refused.
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
  size_t line_start_ = 0;      // Where the first incomplete line of the head begins.
  size_t scanned_ = 0;         // No line ends before this.
  uint64_t body_missing_ = 0;  // Bytes that are still missing of a body with a length.
  std::optional<ChunkDecoder> chunks_;
};

}  // namespace tidemark::http
