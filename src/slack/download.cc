#include "slack/download.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/hashing.h"
#include "http/url.h"

namespace tidemark::slack {

namespace {

// In the form of UrlParts::Origin.
constexpr std::array<std::string_view, 2> kSlackOrigins = {"https://files.slack.com:443",
                                                           "https://files-origin.slack.com:443"};

// How many bytes beyond the announced size are read. A sign-in page may be longer than a small
// file, and must be read to its end so that the error can say "sign-in page" and not "too long".
constexpr uint64_t kRoomForAPage = 256 << 10;

constexpr char kTooLong[] = "the answer is longer than the file's size in Slack";

DownloadError Retryable(std::string reason) {
  return {.retryable = true, .reason = std::move(reason)};
}
DownloadError Final(std::string reason) {
  return {.retryable = false, .reason = std::move(reason)};
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// "text/html; charset=utf-8"
bool IsHtml(std::string_view type) {
  std::string lower(type.substr(0, type.find_first_of("; \t")));
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower == "text/html" || lower == "application/xhtml+xml";
}

// The local file. Counts and hashes the bytes that are written to it.
class Spool {
 public:
  explicit Spool(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (file_ < 0) failure_ = std::strerror(errno);
  }
  ~Spool() {
    if (file_ >= 0) ::close(file_);
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // False when writing failed; see failure().
  bool Write(std::string_view piece) {
    size_ += piece.size();
    hash_.Add(piece);
    while (!piece.empty() && failure_.empty()) {
      const ssize_t written = ::write(file_, piece.data(), piece.size());
      if (written >= 0) {
        piece.remove_prefix(static_cast<size_t>(written));
      } else if (errno != EINTR) {
        failure_ = std::strerror(errno);
      }
    }
    return failure_.empty();
  }

  uint64_t size() const { return size_; }
  const std::string& failure() const { return failure_; }
  std::string Hash() { return ToHex(hash_.Finish()); }

 private:
  const int file_;
  uint64_t size_ = 0;
  std::string failure_;
  Sha256Stream hash_;
};

// The error for an answer with a status other than 200.
DownloadError JudgeStatus(const http::Response& response) {
  const int status = response.status;
  std::string reason = fmt::format("the server answered {}", status);
  const bool is_temporary = status == 408 || status == 429 || status >= 500;
  if (!is_temporary) return Final(std::move(reason));
  DownloadError error = Retryable(std::move(reason));
  error.retry_after = http::RetryAfter(response.headers);
  return error;
}

DownloadError JudgeFailure(const http::Exchange& exchange, const Spool& spool) {
  if (!spool.failure().empty()) {
    return Retryable("the download cannot be written to disk: " + spool.failure());
  }
  if (exchange.outcome == http::Outcome::kTooLarge) return Final(kTooLong);
  return Retryable("the download failed: " + exchange.detail);
}

// The error when the answer is not the requested file; nullopt when it is.
std::optional<DownloadError> JudgeContent(const DownloadRequest& request, uint64_t size,
                                          std::string_view type) {
  if (IsHtml(type) && !IsHtml(request.mimetype)) {
    return Final(
        "the answer is an HTML page, probably a sign-in page: check the bot's scopes and channels");
  }
  // An HTML file and a sign-in page differ only in their size.
  if (IsHtml(type) && request.size <= 0) {
    return Final("an HTML file of unknown size may be a sign-in page");
  }
  const auto told = static_cast<uint64_t>(request.size);
  if (request.size <= 0 || size == told) return std::nullopt;
  if (size > told) return Final(kTooLong);
  return Retryable(fmt::format("only {} of {} bytes arrived", size, told));
}

}  // namespace

Downloader::Downloader(DownloadOptions options, http::Client* client)
    : options_(std::move(options)), client_(*client) {
  for (const std::string& origin : options_.origins) {
    if (const auto parts = http::SplitUrl(origin)) configured_.insert(parts->Origin());
  }
}

std::variant<Downloader::Trust, DownloadError> Downloader::CheckOrigin(
    const http::UrlParts& url) const {
  if (url.has_user_info) return Final("the file's URL contains a user name");
  const std::string origin = url.Origin();
  if (configured_.contains(origin)) return Trust::kConfigured;
  if (std::ranges::find(kSlackOrigins, origin) != kSlackOrigins.end()) return Trust::kSlack;
  return Final(
      fmt::format("{} is not a server of Slack's files; allow it in archive.file-origins", origin));
}

std::variant<Downloaded, DownloadError, Downloader::Redirect> Downloader::Fetch(
    const http::UrlParts& url, const DownloadRequest& request, const Secret& token,
    const Deadline& deadline) {
  const auto trust = CheckOrigin(url);
  if (const auto* refused = std::get_if<DownloadError>(&trust)) return *refused;
  const auto told = static_cast<uint64_t>(request.size);
  Spool spool(request.to);
  if (!spool.failure().empty()) return JudgeFailure({}, spool);
  const http::Exchange exchange = client_.Send(
      {.url = url.url,
       .headers = {{"Authorization", "Bearer " + std::string(token.Reveal())}},
       .timeout = options_.timeout,
       .max_answer_bytes = request.size > 0 ? told + kRoomForAPage : options_.max_bytes,
       .sink = [&spool](std::string_view piece) { return spool.Write(piece); },
       .stop = request.stop,
       .public_addresses_only = std::get<Trust>(trust) == Trust::kSlack},
      deadline);
  if (exchange.outcome != http::Outcome::kAnswered) return JudgeFailure(exchange, spool);
  const http::Response& response = exchange.response;
  if (IsRedirect(response.status)) {
    return Redirect{std::string(response.headers.Find("Location").value_or(""))};
  }
  if (response.status != 200) return JudgeStatus(response);
  const std::string type(response.headers.Find("Content-Type").value_or(""));
  if (auto wrong = JudgeContent(request, spool.size(), type)) return *std::move(wrong);
  return Downloaded{.size = spool.size(), .sha256 = spool.Hash(), .content_type = type};
}

DownloadResult Downloader::Download(const DownloadRequest& request, const Secret& token,
                                    const Deadline& deadline) {
  const bool is_known = request.size > 0;
  if (is_known && static_cast<uint64_t>(request.size) > options_.max_bytes) {
    return Final(fmt::format("the file has {} bytes, more than the limit of {}", request.size,
                             options_.max_bytes));
  }
  auto url = http::SplitUrl(request.url);
  for (uint32_t redirects = 0; url; ++redirects) {
    auto fetched = Fetch(*url, request, token, deadline);
    if (auto* downloaded = std::get_if<Downloaded>(&fetched)) return std::move(*downloaded);
    if (auto* error = std::get_if<DownloadError>(&fetched)) return std::move(*error);
    if (redirects == options_.max_redirects) return Final("too many redirects");
    url = http::ResolveUrl(*url, std::get<Redirect>(fetched).location);
  }
  return Final("the file's URL is not valid");
}

}  // namespace tidemark::slack
