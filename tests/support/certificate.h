// A new key and a certificate that it signs itself, in files, for tests of TLS.
//
//   WriteCertificate("IP:127.0.0.1", {.certificate = folder + "/certificate.pem",
//                                     .key = folder + "/key.pem"});
//
// A client that is to trust the certificate takes its file for its authorities.
#pragma once

#include <string>

namespace tidemark::testing {

struct CertificatePaths {
  std::string certificate;
  std::string key;
};

// For one address or name, "IP:127.0.0.1" or "DNS:slack.test", which is its common name too; from
// an hour ago to in an hour. What is in the files is replaced.
void WriteCertificate(const std::string& subject, const CertificatePaths& paths);

}  // namespace tidemark::testing
