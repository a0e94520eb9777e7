// Downloads a file from Slack into a local file and verifies that it is the file.
//
// Where the token may go. URLs come from events, so they are not trusted. The bot token is sent
// only to allowed origins: https://files.slack.com, https://files-origin.slack.com and those that
// were configured. Scheme, host and port must all match, so a URL with an IP address is refused
// unless that origin was configured. A URL with user info is always refused. When a built-in
// origin's name resolves to a private, loopback, link-local or mapped address, no connection is
// made. At most three redirects are followed; each target is checked in the same way before the
// token is sent to it.
//
// Whether it is the file. Slack answers 200 with a sign-in page when the token has no rights.
// Therefore an HTML answer is refused unless the file itself is HTML, and so is a file that does
// not have exactly the size that Slack announced.
//
// May be called from any thread. It never retries.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/deadline.h"
#include "base/secret.h"
#include "http/client.h"
#include "http/url.h"

namespace tidemark::slack {

struct DownloadOptions {
  // In addition to Slack's own: "http://127.0.0.1:9000". Their addresses may be private. A text
  // that is not a URL matches nothing.
  std::vector<std::string> origins = {};
  uint64_t max_bytes = 1'100'000'000;  // Slack takes files of up to 1 GB.
  std::chrono::seconds timeout = std::chrono::seconds(300);
  uint32_t max_redirects = 3;
};

struct DownloadRequest {
  std::string url;
  std::string to;             // The local file; created, or truncated if it exists.
  int64_t size = 0;           // As announced by Slack; 0: unknown.
  std::string mimetype = {};  // As announced by Slack.
  std::stop_token stop = {};  // Ends the download within a second, as an error.
};

struct Downloaded {
  uint64_t size = 0;
  std::string sha256 = {};        // Lower-case hex.
  std::string content_type = {};  // The header of the answer.
};

struct DownloadError {
  bool retryable = false;  // A later try may succeed.
  std::string reason;      // For people. Never contains the token or the query of a URL.
  std::chrono::seconds retry_after = std::chrono::seconds(0);  // The server asks for this wait.
};

using DownloadResult = std::variant<Downloaded, DownloadError>;

class Downloader {
 public:
  // The client outlives this.
  Downloader(DownloadOptions options, http::Client* client);

  // After an error the local file may exist with a part of the content.
  DownloadResult Download(const DownloadRequest& request, const Secret& token,
                          const Deadline& deadline);

 private:
  // Why an origin is allowed to get the token.
  enum class Trust { kSlack, kConfigured };
  struct Redirect {
    std::string location;
  };

  std::variant<Trust, DownloadError> CheckOrigin(const http::UrlParts& url) const;
  // Makes one request and does not follow a redirect.
  std::variant<Downloaded, DownloadError, Redirect> Fetch(const http::UrlParts& url,
                                                          const DownloadRequest& request,
                                                          const Secret& token,
                                                          const Deadline& deadline);

  const DownloadOptions options_;
  std::set<std::string> configured_;  // Origins.
  http::Client& client_;
};

}  // namespace tidemark::slack
