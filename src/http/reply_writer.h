// Writes replies as bytes, into one string for each reply.
//
// Only the server writes the headers that frame the message: Content-Length, Connection, Date,
// Transfer-Encoding and X-Request-Id of a handler are ignored. Control bytes in a handler's headers
// become spaces, so that no value can end its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace tidemark::http {

struct ReplyFrame {
  std::string_view date;  // As in the Date header.
  std::string_view request_id;
  bool is_http_10 = false;
  bool keep_alive = true;
};

// Whether a reply of this status has a body at all.
bool HasBody(int status);

// Appends the status line and the headers, with the empty line behind them.
void AppendReplyHead(const Response& response, const ReplyFrame& frame, std::string* out);

// "Sun, 15 Nov 2026 10:00:00 GMT"
std::string DateText(int64_t epoch_seconds);

}  // namespace tidemark::http
