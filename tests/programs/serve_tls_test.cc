// `tidemark serve` over TLS, with certificates that change while it runs.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/demo/sender.h"
#include "tests/programs/serve_fixture.h"
#include "tests/support/certificate.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class ServeTlsTest : public ServeFixture {
 protected:
  ServeTlsTest() { WriteCertificate("first.pem", own_host_); }

  // Writes a new certificate and key for the server, and a copy of the certificate that a client
  // can trust.
  void WriteCertificate(const std::string& authority, const std::string& host) const {
    testing::WriteCertificate("IP:" + host,
                              {.certificate = path("certificate.pem"), .key = path("key.pem")});
    std::filesystem::copy_file(path("certificate.pem"), path(authority));
  }

  void ServeOverTls() { Serve({"--tls-certificate", "certificate.pem", "--tls-key", "key.pem"}); }

  // The status that a client gets which trusts only this authority, on a new connection; 0 when it
  // refuses to connect.
  int GetTrusting(const std::string& authority) {
    http::CurlClient client({.authorities = path(authority)}, &clock_, &sleeper_);
    const http::Exchange exchange = client.Send({.url = "https://" + address_ + "/healthz"},
                                                Deadline::After(clock_, seconds(30)));
    return exchange.outcome == http::Outcome::kAnswered ? exchange.response.status : 0;
  }
};

// Certificates are renewed every few weeks, and the server should not need a restart for that.
TEST_F(ServeTlsTest, ReloadsItsCertificateOnSighup) {
  ServeOverTls();
  EXPECT_EQ(GetTrusting("first.pem"), 200);
  WriteCertificate("second.pem", own_host_);
  EXPECT_EQ(GetTrusting("second.pem"), 0);
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("reloaded the certificate")) << server_->err();
  EXPECT_EQ(GetTrusting("second.pem"), 200);
  EXPECT_EQ(GetTrusting("first.pem"), 0);
}

// Slack sends its events over TLS.
TEST_F(ServeTlsTest, TakesSlacksEvents) {
  Serve({"--tls-certificate", "certificate.pem", "--tls-key", "key.pem"},
        {std::string("SLACK_SIGNING_SECRET=") + kDemoSecret});
  http::CurlClient client({.authorities = path("first.pem")}, &clock_, &sleeper_);
  const std::string now = std::to_string(clock_.NowSeconds());
  const auto send = [&](const std::string& secret) {
    const demo::SenderOptions options{.url = "https://" + address_ + "/slack/events",
                                      .signing_secret = Secret(std::string(secret))};
    return client
        .Send(demo::MakeDelivery(options, R"({"type":"url_verification","challenge":"c"})",
                                 {.timestamp = now}),
              Deadline::After(clock_, seconds(30)))
        .response;
  };
  EXPECT_EQ(send(kDemoSecret).status, 200);
  EXPECT_EQ(send(kDemoSecret).status, 401);  // The same bytes again.
  EXPECT_EQ(send("another").status, 401);
}

// A broken new certificate must not stop the server.
TEST_F(ServeTlsTest, KeepsTheCertificateWhenTheNewOneIsBroken) {
  ServeOverTls();
  std::ofstream(path("certificate.pem")) << "not a certificate\n";
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("could not reload the certificate; the old one stays in use"));
  EXPECT_THAT(server_->err(), HasSubstr("certificate.pem"));
  EXPECT_EQ(GetTrusting("first.pem"), 200);
  WriteCertificate("second.pem", own_host_);
  server_->Send(SIGHUP);
  ASSERT_TRUE(server_->AwaitError("reloaded the certificate"));
  EXPECT_EQ(GetTrusting("second.pem"), 200);
}

// Without TLS there is no certificate. SIGHUP must not stop the server, and is no error.
// Review: F14
TEST_F(ServeTlsTest, SurvivesSighupWithoutTls) {
  Serve();
  server_->Send(SIGHUP);
  EXPECT_TRUE(server_->AwaitError("info there is no certificate to reload"));
  EXPECT_EQ(Get("/healthz"), 200);
  EXPECT_EQ(StopServer(), kOk);
}

// The server cannot serve TLS without a valid certificate.
TEST_F(ServeTlsTest, DoesNotStartWithABrokenCertificate) {
  std::ofstream(path("certificate.pem")) << "not a certificate\n";
  const Outcome outcome = Run({"serve", "--listen", address_, "--tls-certificate",
                               "certificate.pem", "--tls-key", "key.pem"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("the TLS certificate in certificate.pem cannot be used"));
}

// The doctor connects to the server by its address, which certificates rarely contain.
TEST_F(ServeTlsTest, IsRecognisedByTheDoctorByItsCertificate) {
  ServeOverTls();
  const Words environment = {"TIDEMARK_LISTEN=" + address_,
                             "TIDEMARK_TLS_CERTIFICATE=certificate.pem", "TIDEMARK_TLS_KEY=key.pem",
                             "TIDEMARK_SLACK_API_URL=http://" + own_host_ + ":1"};
  EXPECT_THAT(Run({"doctor"}, environment).out, HasSubstr("ok       store: the server at https://" +
                                                          address_ + " uses 'tidemark-data'"));
  EXPECT_EQ(StopServer(), kOk);
  WriteCertificate("second.pem", "127.0.0.1");
  ServeOverTls();
  EXPECT_THAT(Run({"doctor"}, environment).out, HasSubstr("warning  store: "));
}

}  // namespace
}  // namespace tidemark::testing
