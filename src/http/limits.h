// The limits of the http folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::http {

struct ServerLimits {
  size_t max_head_bytes = 16 << 10;
  size_t max_headers = 100;
  // Slack's events are much smaller.
  size_t max_body_bytes = 1 << 20;
  // Paths that begin with one of these prefixes accept bodies up to the larger limit.
  std::vector<std::string> large_body_prefixes = {};
  size_t max_large_body_bytes = 0;
  // The sum over all bodies that are in memory at once. Small bodies do not count, so that clients
  // who send many large bodies cannot keep small ones out.
  size_t max_body_bytes_at_once = 256 << 20;
  // The share of it that one address may hold.
  size_t max_body_bytes_per_address = 128 << 20;
  // The same for the bodies of replies, from the handler's reply until they are sent. A reply above
  // the limit becomes a 503, so that clients who read slowly cannot exhaust the memory. A body that
  // a source reads piece by piece does not count.
  size_t max_reply_bytes_at_once = 256 << 20;
  size_t max_reply_bytes_per_address = 128 << 20;
  size_t max_connections = 10'000;
  size_t max_connections_per_address = 2'000;
  // Bad requests of one address (bad_requests.h). Up to this number each one is answered for itself
  // and logged. Further ones get 429 and no line in the log.
  int64_t max_bad_requests_a_minute = 300;
  // Bytes read ahead of the request at the handler. More pipelined bytes wait in the kernel.
  size_t max_pipelined_bytes = 64 << 10;
  std::chrono::milliseconds head_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds body_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);
  // How long a write may make no progress.
  std::chrono::milliseconds write_timeout = std::chrono::seconds(30);
  // A client that reads a reply more slowly than this, on average, loses its connection when the
  // write_timeout has passed. Otherwise a client that reads a byte now and then would keep large
  // replies in memory for hours.
  size_t min_sent_bytes_a_second = 16 << 10;
};

// The body of a request of at most this size does not count towards these limits.
inline constexpr size_t kSmallBodyBytes = 16 << 10;
// The same for a reply. Larger than that of a request, because /metrics must be answered while
// others hold large pages: it has 16 KB and more, and an operator needs it most at such a time.
inline constexpr size_t kSmallReplyBytes = 256 << 10;
// The addresses whose bad requests are counted one by one, at the same time.
inline constexpr size_t kMaxBadAddresses = 10'000;
// A body that comes from a source is read and sent in pieces of this size. While a connection sends
// one piece, at most one more is being read or waits.
inline constexpr size_t kBodyPieceBytes = 256 << 10;
// The threads of a server that read such bodies.
inline constexpr size_t kBodyReaders = 4;
// The default limit for the body of an answer that a client reads.
inline constexpr size_t kMaxAnswerBytes = 8 << 20;
// The limit for the head of an answer.
inline constexpr size_t kMaxAnswerHeadBytes = 64 << 10;
inline constexpr size_t kMaxUrlBytes = 16 << 10;
// Connections that a client has open at once; other requests wait, and their timeout runs while
// they wait. So there must be enough for every worker that asks Slack about three ids at once.
inline constexpr long kMaxClientConnections = 512;
// Requests that wait for a worker. When more come, they are answered with 503.
inline constexpr size_t kMaxWaitingWork = 4'096;

}  // namespace tidemark::http
