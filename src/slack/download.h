// Downloads a file from Slack into a local file, and makes sure that it is the file.
//
// The bot token goes only to the allowed origins: by default https://files.slack.com and
// https://files-origin.slack.com, and others that were configured, each compared as scheme, host
// and port: so a URL with an IP literal is refused unless its origin was configured. A URL with
// user info is refused always, and a built-in origin whose name leads to a private, loopback,
// link-local or mapped address is not connected to. Redirects are followed by hand, at most three,
// each checked anew; the token goes along only after the check. Slack answers 200 with a page to
// sign in when a token has no rights: what is HTML and should not be, and what has not exactly the
// size that Slack told, is no file.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/deadline.h"
#include "base/secret.h"
#include "http/client.h"
#include "http/url.h"

namespace tidemark::slack {

struct DownloadOptions {
  // Besides Slack's own: "http://127.0.0.1:9000". Their addresses may be private. What is no URL
  // matches nothing.
  std::vector<std::string> origins = {};
  uint64_t max_bytes = 1'100'000'000;  // Slack takes files of up to 1 GB.
  std::chrono::seconds timeout = std::chrono::seconds(300);
  uint32_t max_redirects = 3;
};

struct DownloadRequest {
  std::string url;
  std::string to;             // The local file; made or emptied.
  int64_t size = 0;           // As Slack told; 0: not known.
  std::string mimetype = {};  // Likewise.
};

struct Downloaded {
  uint64_t size = 0;
  std::string sha256 = {};        // Lower-case hex.
  std::string content_type = {};  // Of the answer.
};

struct DownloadError {
  bool retryable = false;  // Trying later may help.
  std::string reason;      // For people; never holds the token, nor a URL's query.
};

using DownloadResult = std::variant<Downloaded, DownloadError>;

class Downloader {
 public:
  // The client outlives this.
  Downloader(DownloadOptions options, http::Client* client);

  // On an error the local file may be there, in part.
  DownloadResult Download(const DownloadRequest& request, const Secret& token,
                          const Deadline& deadline);

 private:
  // By what right the token is sent somewhere.
  enum class Trust { kSlack, kConfigured };
  struct Redirect {
    std::string location;
  };

  std::variant<Trust, DownloadError> Check(const http::UrlParts& url) const;
  // One request, to this URL and no other.
  std::variant<Downloaded, DownloadError, Redirect> Ask(const http::UrlParts& url,
                                                        const DownloadRequest& request,
                                                        const Secret& token,
                                                        const Deadline& deadline);

  const DownloadOptions options_;
  std::set<std::string> configured_;  // Origins.
  http::Client& client_;
};

}  // namespace tidemark::slack
