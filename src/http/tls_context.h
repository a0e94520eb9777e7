// The TLS configuration of a server: its certificate and key, TLS 1.2 and 1.3, suites with forward
// secrecy, OpenSSL's security level 2, no session tickets.
//
// The certificate can be reloaded while the server runs. May be used from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "base/result.h"
#include "http/server.h"

// OpenSSL's SSL_CTX.
struct ssl_ctx_st;

namespace tidemark::http {

class TlsContext {
 public:
  using Handle = std::shared_ptr<ssl_ctx_st>;

  // kInvalid when the files cannot be read, are not PEM, or the key does not belong to the
  // certificate.
  static Result<std::unique_ptr<TlsContext>> Load(const TlsFiles& files);

  // The configuration for new connections.
  Handle current() const;
  // Reads the files again. After an error the old certificate stays in use.
  Status Reload();

 private:
  TlsContext(TlsFiles files, Handle handle) : files_(std::move(files)), handle_(handle) {}

  const TlsFiles files_;
  mutable std::mutex mutex_;
  Handle handle_;
};

}  // namespace tidemark::http
