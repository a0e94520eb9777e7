// The limits of the http folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tidemark::http {

struct ServerLimits {
  size_t max_head_bytes = 16 << 10;
  size_t max_headers = 100;
  // Slack's events stay far below.
  size_t max_body_bytes = 1 << 20;
  // Paths that begin with this take larger bodies, up to that; empty: none do.
  std::string large_body_prefix = {};
  size_t max_large_body_bytes = 0;
  // Of all bodies that are in memory at once. Small ones do not count, so that who fills it with
  // large ones does not keep them out.
  size_t max_body_bytes_at_once = 256 << 20;
  size_t max_connections = 10'000;
  size_t max_connections_per_address = 2'000;
  // Bytes read ahead of the request at the handler: what is pipelined beyond waits in the kernel.
  size_t max_pipelined_bytes = 64 << 10;
  std::chrono::milliseconds head_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds body_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds write_timeout = std::chrono::seconds(30);
};

// What a body may have before it counts towards the bodies at once.
inline constexpr size_t kSmallBodyBytes = 16 << 10;
// A body that comes from a source is read and sent in pieces; of a connection, one is being sent
// and at most one more is being read or waits.
inline constexpr size_t kBodyPieceBytes = 256 << 10;
// Threads of a server that read them.
inline constexpr size_t kBodyReaders = 4;
// The most that a client reads of an answer unless the caller says otherwise.
inline constexpr size_t kMaxAnswerBytes = 8 << 20;
// Likewise of an answer's head.
inline constexpr size_t kMaxAnswerHeadBytes = 64 << 10;
inline constexpr size_t kMaxUrlBytes = 16 << 10;
// Connections that the requests of one SendAll have open at once; the others wait.
inline constexpr long kMaxConnectionsPerSend = 64;
// Routes' work that waits for a worker; beyond it the answer is 503.
inline constexpr size_t kMaxWaitingWork = 4'096;

}  // namespace tidemark::http
