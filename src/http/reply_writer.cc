#include "http/reply_writer.h"

#include <algorithm>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/ascii.h"

namespace tidemark::http {

namespace {

// Headers that frame or name the reply. If a handler could set them too, a client might see two
// lengths and lose the boundary between replies.
bool IsOurs(std::string_view name) {
  static constexpr std::string_view kOurs[] = {"Content-Length", "Connection", "Date",
                                               "Transfer-Encoding", "X-Request-Id"};
  return std::ranges::any_of(kOurs,
                             [&](std::string_view own) { return EqualIgnoringCase(name, own); });
}

void AppendLine(std::string_view name, std::string_view value, std::string* out) {
  const size_t start = out->size();
  out->append(name).append(": ").append(value);
  // A line end in a value would begin another header, or another reply.
  std::replace_if(out->begin() + static_cast<ptrdiff_t>(start), out->end(), IsControl, ' ');
  out->append("\r\n");
}

std::string_view ConnectionLine(const ReplyFrame& frame) {
  if (!frame.keep_alive) return "Connection: close\r\n";
  return frame.is_http_10 ? "Connection: keep-alive\r\n" : "";
}

void AppendNumber(uint64_t number, std::string* out) {
  const fmt::format_int text(number);
  out->append(text.data(), text.size());
}

}  // namespace

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

void AppendReplyHead(const Response& response, const ReplyFrame& frame, std::string* out) {
  out->append("HTTP/1.1 ");
  AppendNumber(static_cast<uint64_t>(response.status), out);
  out->append(" ").append(StatusText(response.status));
  out->append("\r\nDate: ").append(frame.date);
  out->append("\r\nX-Request-Id: ").append(frame.request_id).append("\r\n");
  for (const Header& header : response.headers) {
    if (!IsOurs(header.name)) AppendLine(header.name, header.value, out);
  }
  if (HasBody(response.status)) {
    out->append("Content-Length: ");
    AppendNumber(BodyBytes(response), out);
    out->append("\r\n");
  }
  out->append(ConnectionLine(frame)).append("\r\n");
}

std::string DateText(int64_t epoch_seconds) {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(epoch_seconds));
}

}  // namespace tidemark::http
