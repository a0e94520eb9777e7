// Writes a new key and a self-signed certificate to files, for tests of TLS.
//
//   WriteCertificate("IP:127.0.0.1", {.certificate = folder + "/certificate.pem",
//                                     .key = folder + "/key.pem"});
//
// A client trusts the certificate if the file is its list of authorities.
#pragma once

#include <string>

namespace tidemark::testing {

struct CertificatePaths {
  std::string certificate;
  std::string key;
};

// The certificate is for one address or name, such as "IP:127.0.0.1" or "DNS:slack.test", which is
// also its common name. It is valid from an hour ago until in an hour. Existing files are replaced.
void WriteCertificate(const std::string& subject, const CertificatePaths& paths);

}  // namespace tidemark::testing
