#include "tests/simulation/file_host.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "http/url.h"
#include "servers/demo/shapes.h"

namespace tidemark::testing {

namespace {

constexpr char kApiOrigin[] = "https://slack.com:443";
constexpr char kFilesOrigin[] = "https://files.slack.com:443";
constexpr char kOtherFilesOrigin[] = "https://files-origin.slack.com:443";
constexpr char kSignIn[] = "<!DOCTYPE html><html><body>Sign in to your workspace</body></html>";
// How often the archive tries a download before it gives up.
constexpr size_t kAttempts = 3;

http::Exchange RespondWith(int status) {
  return {.outcome = http::Outcome::kAnswered, .response = {.status = status}};
}

http::Exchange Redirect(const std::string& location) {
  http::Exchange exchange = RespondWith(302);
  exchange.response.headers.Add("Location", location);
  return exchange;
}

// "https://files.slack.com/files-pri/F123/name" → "F123"
std::string FileIn(const std::string& url) {
  const size_t start = url.find("/F");
  if (start == std::string::npos) return "";
  return url.substr(start + 1, url.find('/', start + 1) - start - 1);
}

}  // namespace

bool Passes(Service service) {
  return service >= Service::kRateLimited && service <= Service::kUnreachable;
}

void FileHost::Add(const demo::File& file) { files_.emplace(file.id, file); }

// A file that fails for a while fails fewer times than the archive tries.
FileHost::Fate FileHost::FateOf(const std::string& file) const {
  SeededRandom random(seed_ ^ std::hash<std::string>()(file));
  Fate fate;
  const uint64_t failures = random.Below(2) == 0 ? 0 : random.Below(kAttempts);
  for (uint64_t i = 0; i < failures; ++i) {
    fate.first.push_back(static_cast<Service>(2 + random.Below(6)));
  }
  const bool is_lost = random.Below(4) == 0;
  const uint64_t last = is_lost ? 2 + random.Below(kServices - 2) : random.Below(2);
  fate.then = static_cast<Service>(last);
  return fate;
}

bool FileHost::IsFetchable(const std::string& file) const {
  const Service last = FateOf(file).then;
  return last == Service::kRight || last == Service::kRedirected;
}

std::vector<http::Exchange> FileHost::SendAll(std::span<const http::OutgoingRequest> requests,
                                              const Deadline& /*deadline*/) {
  std::vector<http::Exchange> exchanges;
  for (const http::OutgoingRequest& request : requests) {
    on_moment();
    exchanges.push_back(Answer(request));
  }
  return exchanges;
}

void FileHost::Judge(const http::OutgoingRequest& request, const std::string& origin) {
  const bool may_have_token =
      origin == kApiOrigin || origin == kFilesOrigin || origin == kOtherFilesOrigin;
  if (may_have_token) return;
  const bool has_token = request.headers.Find("Authorization").has_value() ||
                         request.url.find(kBotToken) != std::string::npos ||
                         request.body.find(kBotToken) != std::string::npos;
  faults_.push_back(fmt::format("{} was asked{}", origin, has_token ? ", with the token" : ""));
}

http::Exchange FileHost::Answer(const http::OutgoingRequest& request) {
  const auto url = http::SplitUrl(request.url);
  if (!url) return {.outcome = http::Outcome::kNotSent, .detail = "a bad URL"};
  const std::string origin = url->Origin();
  Judge(request, origin);
  if (origin == kApiOrigin) return AnswerInfo(request);
  if (origin != kFilesOrigin && origin != kOtherFilesOrigin) {
    return Give(request, kSignIn, "text/html; charset=utf-8");
  }
  if (request.headers.Find("Authorization") != std::string("Bearer ") + kBotToken) {
    return Give(request, kSignIn, "text/html; charset=utf-8");
  }
  const std::string id = FileIn(request.url);
  const auto file = files_.find(id);
  if (file == files_.end()) return RespondWith(404);
  // The other host serves what this one redirected.
  if (origin == kOtherFilesOrigin) return Serve(request, file->second, Service::kRight);
  return AnswerDownload(request, id);
}

http::Exchange FileHost::AnswerDownload(const http::OutgoingRequest& request,
                                        const std::string& id) {
  const Fate fate = FateOf(id);
  const size_t before = requests_[id]++;
  const Service service = before < fate.first.size() ? fate.first[before] : fate.then;
  ++served_[service];
  return Serve(request, files_.at(id), service);
}

http::Exchange FileHost::AnswerInfo(const http::OutgoingRequest& request) {
  const std::string text = request.url + "?" + request.body;
  const auto file = std::ranges::find_if(files_, [&](const auto& each) {
    return text.find("file=" + each.first) != std::string::npos;
  });
  std::string body = R"({"ok":false,"error":"file_not_found"})";
  if (file != files_.end()) {
    body = R"({"ok":true,"file":)";
    JsonWriter writer(&body);
    demo::WriteFile(&writer, file->second, {.team_id = "", .files_url = kFilesUrl});
    body += "}";
  }
  http::Exchange exchange = RespondWith(200);
  exchange.response.headers.Add("Content-Type", "application/json");
  exchange.response.body = std::move(body);
  return exchange;
}

http::Exchange FileHost::Give(const http::OutgoingRequest& request, const std::string& body,
                              const std::string& type) {
  http::Exchange exchange = RespondWith(200);
  exchange.response.headers.Add("Content-Type", type);
  if (body.size() > request.max_answer_bytes) return {.outcome = http::Outcome::kTooLarge};
  if (!request.sink) {
    exchange.response.body = body;
    return exchange;
  }
  const std::string_view whole = body;
  const size_t half = whole.size() / 2;
  if (!request.sink(whole.substr(0, half))) return {.outcome = http::Outcome::kTooLarge};
  on_moment();
  if (!request.sink(whole.substr(half))) return {.outcome = http::Outcome::kTooLarge};
  return exchange;
}

http::Exchange FileHost::Serve(const http::OutgoingRequest& request, const demo::File& file,
                               Service service) {
  const std::string content = demo::ContentOf(file);
  switch (service) {
    case Service::kRight:
      return Give(request, content, file.mimetype);
    case Service::kRedirected:
      return Redirect(fmt::format("https://files-origin.slack.com/files-pri/{}/x", file.id));
    case Service::kRateLimited:
      return RespondWith(429);
    case Service::kServerError:
      return RespondWith(500);
    case Service::kShort:
      return Give(request, content.substr(0, content.size() / 2), file.mimetype);
    case Service::kBroken:
      if (request.sink) (void)request.sink(std::string_view(content).substr(0, 100));
      return {.outcome = http::Outcome::kBroken, .detail = "cut off"};
    case Service::kTimedOut:
      return {.outcome = http::Outcome::kTimedOut, .detail = "no answer"};
    case Service::kUnreachable:
      return {.outcome = http::Outcome::kNotSent, .detail = "no connection"};
    case Service::kLoginPage:
      return Give(request, kSignIn, "text/html; charset=utf-8");
    case Service::kWrongType:
      return Give(request, content, "text/html");
    case Service::kLong:
      return Give(request, content + "and more", file.mimetype);
    case Service::kGone:
      return RespondWith(404);
    case Service::kSentElsewhere:
      return Redirect("https://files.slack.com.harbour.example/" + file.id + "/x");
    case Service::kSentToLogin:
      return Redirect("https://harbour.slack.com/signin?redir=" + file.id);
    case Service::kLoop:
      return Redirect(request.url);
  }
  return RespondWith(500);
}

}  // namespace tidemark::testing
