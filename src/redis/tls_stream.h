// TLS over a connected socket that somebody else owns. The timeouts of the socket apply to each
// read and write. The certificate of the server must be for the host and come from a known
// authority.
//
// One thread at a time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

// Of OpenSSL.
struct ssl_ctx_st;
struct ssl_st;

namespace tidemark::redis {

class TlsStream {
 public:
  // `authorities` is a file; empty: the system's. kUnavailable when there is no agreement.
  static Result<std::unique_ptr<TlsStream>> Open(int socket, const std::string& host,
                                                 const std::string& authorities);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // False: the connection failed, and some of the bytes may have been sent.
  bool Write(std::string_view bytes);
  // What has come, at least one byte; empty when the connection failed or nothing came in time. It
  // is valid until the next call.
  std::string_view Read();
  // The server has closed the connection.
  bool is_gone() const { return is_gone_; }

 private:
  TlsStream() = default;
  bool Fail(int result);

  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_{nullptr, nullptr};
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> stream_{nullptr, nullptr};
  std::array<char, 16'384> piece_{};
  bool is_gone_ = false;
};

}  // namespace tidemark::redis
