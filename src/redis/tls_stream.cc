#include "redis/tls_stream.h"

#include <cerrno>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace tidemark::redis {

namespace {

Error NoTls(std::string_view what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return {ErrorCode::kUnavailable, fmt::format("{}{}{}", what, code == 0 ? "" : ": ", text.data())};
}

// The certificate must have this name, or this address.
bool ExpectHost(const std::string& host, SSL* stream) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(stream), host.c_str()) == 1) return true;
  // What SSL_set_tlsext_host_name does, without the cast in that macro, which our warnings refuse.
  std::string name = host;
  return SSL_set1_host(stream, host.c_str()) == 1 &&
         SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) ==
             1;
}

}  // namespace

TlsStream::~TlsStream() = default;

Result<std::unique_ptr<TlsStream>> TlsStream::Open(int socket, const std::string& host,
                                                   const std::string& authorities) {
  std::unique_ptr<TlsStream> opened(new TlsStream());
  opened->context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  SSL_CTX* context = opened->context_.get();
  if (context == nullptr) return NoTls("TLS cannot be used");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const int loaded = authorities.empty() ? SSL_CTX_set_default_verify_paths(context)
                                         : SSL_CTX_load_verify_file(context, authorities.c_str());
  if (loaded != 1) {
    return NoTls(fmt::format("the authorities in '{}' cannot be read", authorities));
  }
  opened->stream_ = {SSL_new(context), SSL_free};
  SSL* stream = opened->stream_.get();
  if (stream == nullptr || !ExpectHost(host, stream) || SSL_set_fd(stream, socket) != 1) {
    return NoTls("TLS cannot be used");
  }
  if (SSL_connect(stream) == 1) return opened;
  const long verified = SSL_get_verify_result(stream);
  if (verified == X509_V_OK) return NoTls("the server does not speak TLS, or not in time");
  return NoTls(
      fmt::format("the certificate of the server is not accepted ({}): see attempts.old.ca",
                  X509_verify_cert_error_string(verified)));
}

bool TlsStream::Fail(int result) {
  const int reason = SSL_get_error(stream_.get(), result);
  // An unexpected end of the stream is an SSL_ERROR_SSL in OpenSSL 3.
  is_gone_ = reason == SSL_ERROR_ZERO_RETURN || reason == SSL_ERROR_SSL ||
             (reason == SSL_ERROR_SYSCALL && (errno == EPIPE || errno == ECONNRESET || errno == 0));
  ERR_clear_error();
  return false;
}

bool TlsStream::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const int written = SSL_write(stream_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (written <= 0) return Fail(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string_view TlsStream::Read() {
  const int size = SSL_read(stream_.get(), piece_.data(), static_cast<int>(piece_.size()));
  if (size > 0) return {piece_.data(), static_cast<size_t>(size)};
  Fail(size);
  return {};
}

}  // namespace tidemark::redis
