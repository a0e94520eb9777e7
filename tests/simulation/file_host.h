// A FileHost stands for every host that a download can lead to, without a socket: Slack's file
// hosts, its Web API for files.info, the sign-in page, and hosts that must never get Slack's token.
// It is the HTTP client of the archive.
//
// The seed and the id of a file decide how it is served: correctly, after some failures, or never.
// Every request is checked: one that sends the token to a host outside the allow-list, or that
// goes to a host that must not be asked, is a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "http/client.h"
#include "servers/demo/workspace.h"

namespace tidemark::testing {

inline constexpr char kBotToken[] = "xoxb-canary-of-the-simulation";
inline constexpr char kApiUrl[] = "https://slack.com/api";
inline constexpr char kFilesUrl[] = "https://files.slack.com/files-pri";

// What happens to a request for a file.
enum class Service {
  kRight,
  kRedirected,  // To Slack's other file host, which serves it.
  // These failures pass.
  kRateLimited,
  kServerError,
  kShort,
  kBroken,  // In the middle.
  kTimedOut,
  kUnreachable,
  // These do not pass.
  kLoginPage,
  kWrongType,  // The right bytes with the content type of a page.
  kLong,
  kGone,           // 404.
  kSentElsewhere,  // 302 to a host that is not Slack's.
  kSentToLogin,    // 302 to the sign-in page.
  kLoop,
};
inline constexpr size_t kServices = 15;
bool Passes(Service service);

class FileHost final : public http::Client {
 public:
  explicit FileHost(uint64_t seed) : seed_(seed) {}

  void Add(const demo::File& file);
  // Whether a client that retries gets the file in the end.
  bool IsFetchable(const std::string& file) const;

  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline& deadline) override;

  // Called before each request and in the middle of each body, where the process may die.
  std::function<void()> on_moment = [] {};

  const std::vector<std::string>& faults() const { return faults_; }
  const std::map<Service, uint64_t>& served() const { return served_; }

 private:
  struct Fate {
    std::vector<Service> first;  // One a request.
    Service then = Service::kRight;
  };

  Fate FateOf(const std::string& file) const;
  void Judge(const http::OutgoingRequest& request, const std::string& origin);
  http::Exchange Answer(const http::OutgoingRequest& request);
  http::Exchange AnswerInfo(const http::OutgoingRequest& request);
  http::Exchange AnswerDownload(const http::OutgoingRequest& request, const std::string& id);
  http::Exchange Serve(const http::OutgoingRequest& request, const demo::File& file,
                       Service service);
  http::Exchange Give(const http::OutgoingRequest& request, const std::string& body,
                      const std::string& type);

  const uint64_t seed_;
  std::map<std::string, demo::File> files_;
  std::map<std::string, size_t> requests_;  // So far, for each file.
  std::map<Service, uint64_t> served_;
  std::vector<std::string> faults_;
};

}  // namespace tidemark::testing
