// `tidemark serve` over TLS, with certificates that change while it runs.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/serve_fixture.h"
#include "tests/support/certificate.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class ServeTlsTest : public ServeFixture {
 protected:
  ServeTlsTest() { WriteCertificate("first.pem", own_host_); }

  // A new certificate and key where the server looks for them; the certificate also under another
  // name, for a client to trust.
  void WriteCertificate(const std::string& authority, const std::string& host) const {
    testing::WriteCertificate("IP:" + host,
                              {.certificate = path("certificate.pem"), .key = path("key.pem")});
    std::filesystem::copy_file(path("certificate.pem"), path(authority));
  }

  void ServeOverTls() { Serve({"--tls-certificate", "certificate.pem", "--tls-key", "key.pem"}); }

  // What a client that trusts only this authority makes of the server, on a connection of its own:
  // the status of the answer, or 0 when it does not talk to it.
  int GetTrusting(const std::string& authority) {
    http::CurlClient client({.authorities = path(authority)}, &clock_, &sleeper_);
    const http::Exchange exchange = client.Send({.url = "https://" + address_ + "/healthz"},
                                                Deadline::After(clock_, seconds(30)));
    return exchange.outcome == http::Outcome::kAnswered ? exchange.response.status : 0;
  }
};

// A certificate is renewed every few weeks; nobody restarts a server for that.
TEST_F(ServeTlsTest, ReadsItsCertificateAgainOnSighup) {
  ServeOverTls();
  EXPECT_EQ(GetTrusting("first.pem"), 200);
  WriteCertificate("second.pem", own_host_);
  EXPECT_EQ(GetTrusting("second.pem"), 0);
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("the certificate was read again")) << server_->err();
  EXPECT_EQ(GetTrusting("second.pem"), 200);
  EXPECT_EQ(GetTrusting("first.pem"), 0);
}

// Half a renewal must not take the server down.
TEST_F(ServeTlsTest, KeepsTheCertificateWhenTheNewOneIsBroken) {
  ServeOverTls();
  std::ofstream(path("certificate.pem")) << "not a certificate\n";
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("the certificate could not be read; the old one stays"));
  EXPECT_THAT(server_->err(), HasSubstr("certificate.pem"));
  EXPECT_EQ(GetTrusting("first.pem"), 200);
  WriteCertificate("second.pem", own_host_);
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("the certificate was read again"));
  EXPECT_EQ(GetTrusting("second.pem"), 200);
}

// Without TLS there is no certificate, and a reload is no reason to stop.
TEST_F(ServeTlsTest, SurvivesSighupWithoutTls) {
  Serve();
  server_->Send(SIGHUP);
  EXPECT_TRUE(server_->AwaitError("the certificate "));
  EXPECT_EQ(Get("/healthz"), 200);
  EXPECT_EQ(StopServer(), kOk);
}

// With what is no certificate there is nothing to serve with.
TEST_F(ServeTlsTest, DoesNotStartWithABrokenCertificate) {
  std::ofstream(path("certificate.pem")) << "not a certificate\n";
  const Outcome outcome = Run({"serve", "--listen", address_, "--tls-certificate",
                               "certificate.pem", "--tls-key", "key.pem"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("the TLS certificate in certificate.pem cannot be used"));
}

// A doctor asks the server by its address, for which certificates rarely are.
TEST_F(ServeTlsTest, IsKnownToTheDoctorByItsCertificate) {
  ServeOverTls();
  const Words environment = {"TIDEMARK_LISTEN=" + address_,
                             "TIDEMARK_TLS_CERTIFICATE=certificate.pem", "TIDEMARK_TLS_KEY=key.pem",
                             "TIDEMARK_SLACK_API_URL=http://" + own_host_ + ":1"};
  EXPECT_THAT(Run({"doctor"}, environment).out,
              HasSubstr("ok       store: 'tidemark-data' is in use by the server"));
  EXPECT_EQ(StopServer(), kOk);
  WriteCertificate("second.pem", "127.0.0.1");
  ServeOverTls();
  EXPECT_THAT(Run({"doctor"}, environment).out, HasSubstr("warning  store: "));
}

}  // namespace
}  // namespace tidemark::testing
