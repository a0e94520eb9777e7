// The TLS side of a server: its certificate and key, and what it agrees to: TLS 1.2 and 1.3,
// forward-secret suites, OpenSSL's security level 2, no session tickets.
//
// It can be loaded again while connections are made. May be used from any thread.
#pragma once

#include <memory>
#include <mutex>

#include "base/result.h"
#include "http/server.h"

// OpenSSL's.
struct ssl_ctx_st;

namespace tidemark::http {

class TlsContext {
 public:
  using Handle = std::shared_ptr<ssl_ctx_st>;

  // kInvalid when the files cannot be read, are no PEM, or do not belong together.
  static Result<std::unique_ptr<TlsContext>> Load(const TlsFiles& files);

  // What new connections use.
  Handle current() const;
  // Reads the files again. On an error what was loaded before stays.
  Status Reload();

 private:
  TlsContext(TlsFiles files, Handle handle) : files_(std::move(files)), handle_(handle) {}

  const TlsFiles files_;
  mutable std::mutex mutex_;
  Handle handle_;
};

}  // namespace tidemark::http
