#include "http/tls_context.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/check.h"

namespace tidemark::http {

namespace {

// The suites for TLS 1.2. All suites of TLS 1.3 have forward secrecy.
constexpr char kSuites[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

// OpenSSL's text for its last error on this thread.
std::string LastError() {
  char text[256] = "no reason given";
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

Error Unusable(std::string_view what, const std::string& file) {
  return Invalid(fmt::format("the TLS {} in {} cannot be used: {}", what, file, LastError()));
}

void Restrict(SSL_CTX* context) {
  CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
  SSL_CTX_set_security_level(context, 2);
  CHECK(SSL_CTX_set_cipher_list(context, kSuites) == 1);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  // The option above does not switch off the tickets of TLS 1.3.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Most connections are idle, and the buffers of OpenSSL are large.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

Result<TlsContext::Handle> LoadContext(const TlsFiles& files) {
  ERR_clear_error();
  const TlsContext::Handle context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  CHECK(context != nullptr);
  Restrict(context.get());
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return Unusable("certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Unusable("key", files.key);
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<TlsContext>> TlsContext::Load(const TlsFiles& files) {
  Handle handle = TRY(LoadContext(files));
  return std::unique_ptr<TlsContext>(new TlsContext(files, std::move(handle)));
}

TlsContext::Handle TlsContext::current() const {
  const std::lock_guard lock(mutex_);
  return handle_;
}

Status TlsContext::Reload() {
  Handle handle = TRY(LoadContext(files_));
  const std::lock_guard lock(mutex_);
  handle_ = std::move(handle);
  return Done{};
}

}  // namespace tidemark::http
