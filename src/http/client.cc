#include "http/client.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <curl/curl.h>

#include "base/check.h"
#include "base/retry.h"
#include "http/address.h"
#include "http/rounds.h"

namespace tidemark::http {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kLongestRetryAfter = std::chrono::hours(1);
// Connections that a session keeps between calls.
constexpr size_t kConnectionsPerSession = 8;

bool IsControl(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

// As HTTP has it for names of headers.
bool IsTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsTokenCharacter);
}

// A line break in a value would begin another header, or another request.
bool IsHeaderValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) { return IsControl(c) && c != '\t'; });
}

bool IsUrl(std::string_view url) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) return false;
  return url.size() <= kMaxUrlBytes &&
         std::none_of(url.begin(), url.end(), [](char c) { return IsControl(c) || c == ' '; });
}

// Why it cannot be sent at all; nullopt when it can.
std::optional<std::string> Refusal(const OutgoingRequest& request) {
  if (!IsUrl(request.url)) return "the URL is not one of http or https, or has bad characters";
  for (const Header& header : request.headers) {
    if (!IsHeaderName(header.name)) return "a header has a bad name";
    if (!IsHeaderValue(header.value)) return "a header has a control character in its value";
  }
  return std::nullopt;
}

// Whether asking twice is the same as asking once.
bool IsRepeatable(Method method) { return method == Method::kGet || method == Method::kHead; }

Outcome OutcomeOf(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Outcome::kAnswered;
    case CURLE_OPERATION_TIMEDOUT:
      return Outcome::kTimedOut;
    case CURLE_URL_MALFORMAT:
    case CURLE_LOGIN_DENIED:  // A user in the URL.
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
      return Outcome::kNotSent;
    default:
      return Outcome::kBroken;
  }
}

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
// A multi handle is a loop over transfers, and owns the connections they leave behind.
using Session = std::unique_ptr<CURLM, FreeMulti>;

// One attempt at one request. libcurl holds its address, so it stays where it is.
class Transfer {
 public:
  Transfer(const OutgoingRequest& request, const ClientOptions& options, milliseconds timeout);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_.get(); }
  void set_code(CURLcode code) { code_ = code; }
  // Once the session is done with it.
  Exchange Take();

 private:
  static size_t OnHead(char* bytes, size_t size, size_t count, void* self);
  static size_t OnBody(char* bytes, size_t size, size_t count, void* self);
  static size_t OnSend(char* bytes, size_t size, size_t count, void* self);
  static curl_socket_t OnSocket(void*, curlsocktype, curl_sockaddr* address);

  template <typename T>
  void Set(CURLoption option, T value) {
    CHECK(curl_easy_setopt(easy_.get(), option, value) == CURLE_OK);
  }
  void SetRules(const ClientOptions& options, milliseconds timeout);
  void SetHeaders();
  void SetMethod();
  void AddHeader(const std::string& line);
  // Both take a piece of the body; false: no more of it.
  bool Keep(std::string_view piece);
  bool Sink(std::string_view piece);
  bool HasSucceeded() const;
  Response TakeResponse();

  const OutgoingRequest& request_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  CURLcode code_ = CURLE_OPERATION_TIMEDOUT;
  size_t sent_bytes_ = 0;
  size_t head_bytes_ = 0;
  std::string body_;
  size_t sunk_bytes_ = 0;
  bool too_large_ = false;
};

Transfer::Transfer(const OutgoingRequest& request, const ClientOptions& options,
                   milliseconds timeout)
    : request_(request), easy_(curl_easy_init()) {
  CHECK(easy_ != nullptr);
  Set(CURLOPT_PRIVATE, this);
  Set(CURLOPT_URL, request_.url.c_str());
  SetRules(options, timeout);
  SetHeaders();
  SetMethod();
  Set(CURLOPT_HEADERFUNCTION, &OnHead);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_WRITEFUNCTION, &OnBody);
  Set(CURLOPT_WRITEDATA, this);
  if (!request_.public_addresses_only) return;
  Set(CURLOPT_OPENSOCKETFUNCTION, &OnSocket);
  Set(CURLOPT_FRESH_CONNECT, 1L);  // A kept connection may lead anywhere.
}

void Transfer::SetRules(const ClientOptions& options, milliseconds timeout) {
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  // A name server that hangs must not hold us past the timeout while its thread is waited for.
  Set(CURLOPT_QUICK_EXIT, 1L);
  Set(CURLOPT_PROTOCOLS_STR, "http,https");
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_FOLLOWLOCATION, 0L);
  Set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  Set(CURLOPT_PROXY, "");  // Or the environment would name one.
  Set(CURLOPT_SSL_VERIFYPEER, 1L);
  Set(CURLOPT_SSL_VERIFYHOST, 2L);
  Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (options.authorities.empty()) return;
  Set(CURLOPT_CAINFO, options.authorities.c_str());
  // The system's folder would be trusted beside the file.
  Set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
}

void Transfer::AddHeader(const std::string& line) {
  curl_slist* const list = curl_slist_append(headers_.get(), line.c_str());
  CHECK(list != nullptr);
  (void)headers_.release();
  headers_.reset(list);
}

void Transfer::SetHeaders() {
  // A name with nothing behind it takes out what libcurl would add by itself.
  AddHeader("Expect:");
  if (!request_.headers.Find("Content-Type")) AddHeader("Content-Type:");
  for (const Header& header : request_.headers) {
    AddHeader(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  Set(CURLOPT_HTTPHEADER, headers_.get());
}

// When a kept connection turns out to be closed, libcurl sends the request again on a new one. Only
// repeatable requests may do that: the body of others is handed over in a way that cannot be begun
// anew, and those without a body get a new connection to begin with.
void Transfer::SetMethod() {
  const bool has_body = !request_.body.empty();
  if (has_body) {
    Set(CURLOPT_POST, 1L);
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    Set(CURLOPT_READFUNCTION, &OnSend);
    Set(CURLOPT_READDATA, this);
  } else if (request_.method == Method::kHead) {
    Set(CURLOPT_NOBODY, 1L);
  } else if (request_.method == Method::kPost || request_.method == Method::kPut ||
             request_.method == Method::kPatch) {
    Set(CURLOPT_COPYPOSTFIELDS, "");  // For "Content-Length: 0".
  }
  if (!has_body && !IsRepeatable(request_.method)) Set(CURLOPT_FRESH_CONNECT, 1L);
  Set(CURLOPT_CUSTOMREQUEST, std::string(ToString(request_.method)).c_str());
}

size_t Transfer::OnHead(char*, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.head_bytes_ += size * count;
  transfer.too_large_ = transfer.head_bytes_ > kMaxAnswerHeadBytes;
  return transfer.too_large_ ? 0 : size * count;
}

size_t Transfer::OnBody(char* bytes, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view piece(bytes, size * count);
  const bool sinks = transfer.request_.sink != nullptr && transfer.HasSucceeded();
  transfer.too_large_ = !(sinks ? transfer.Sink(piece) : transfer.Keep(piece));
  return transfer.too_large_ ? 0 : piece.size();
}

bool Transfer::HasSucceeded() const {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status >= 200 && status < 300;
}

bool Transfer::Keep(std::string_view piece) {
  // What would have gone to a sink may be larger than what memory is for.
  const size_t bound = request_.sink == nullptr
                           ? request_.max_answer_bytes
                           : std::min(request_.max_answer_bytes, kMaxAnswerBytes);
  if (piece.size() > bound - body_.size()) return false;
  body_.append(piece);
  return true;
}

bool Transfer::Sink(std::string_view piece) {
  if (piece.size() > request_.max_answer_bytes - sunk_bytes_) return false;
  sunk_bytes_ += piece.size();
  return request_.sink(piece);
}

// After the name was resolved, so that a name which leads elsewhere at the second look gains
// nothing.
curl_socket_t Transfer::OnSocket(void*, curlsocktype, curl_sockaddr* address) {
  if (!IsPublicAddress(address->addr)) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

size_t Transfer::OnSend(char* bytes, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string& body = transfer.request_.body;
  const size_t length = std::min(size * count, body.size() - transfer.sent_bytes_);
  std::memcpy(bytes, body.data() + transfer.sent_bytes_, length);
  transfer.sent_bytes_ += length;
  return length;
}

Response Transfer::TakeResponse() {
  Response response;
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  curl_header* header = nullptr;
  while ((header = curl_easy_nextheader(easy_.get(), CURLH_HEADER, -1, header)) != nullptr) {
    // libcurl 7.88 leaves the line's end in the value of a header that has none.
    std::string value = header->value;
    response.headers.Add(header->name, value == "\r" ? "" : std::move(value));
  }
  response.body = std::move(body_);
  return response;
}

Exchange Transfer::Take() {
  Exchange exchange;
  curl_off_t took_us = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_TOTAL_TIME_T, &took_us);
  exchange.took = std::chrono::microseconds(took_us);
  exchange.outcome = too_large_ ? Outcome::kTooLarge : OutcomeOf(code_);
  if (exchange.outcome == Outcome::kAnswered) {
    exchange.response = TakeResponse();
  } else {
    exchange.detail = too_large_ ? "the answer is too large" : curl_easy_strerror(code_);
  }
  return exchange;
}

void Perform(CURLM* session, std::span<const std::unique_ptr<Transfer>> transfers) {
  for (const auto& transfer : transfers) {
    CHECK(curl_multi_add_handle(session, transfer->easy()) == CURLM_OK);
  }
  // Every transfer has its timeout, so the loop ends.
  for (int running = 1; running > 0;) {
    CHECK(curl_multi_perform(session, &running) == CURLM_OK);
    if (running > 0) CHECK(curl_multi_poll(session, nullptr, 0, 1000, nullptr) == CURLM_OK);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(session, &left)) {
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->set_code(message->data.result);
  }
  for (const auto& transfer : transfers) curl_multi_remove_handle(session, transfer->easy());
}

RetryPolicy PolicyOf(const OutgoingRequest& request) {
  // A sink has seen what came before.
  const bool may = IsRepeatable(request.method) && !Refusal(request) && request.sink == nullptr;
  return {.max_retries = may ? request.max_retries : 0,
          .first_wait = milliseconds(100),
          .longest_wait = std::chrono::seconds(2)};
}

bool IsTransient(const Exchange& exchange) {
  if (exchange.outcome == Outcome::kNotSent || exchange.outcome == Outcome::kBroken) return true;
  const int status = exchange.response.status;
  return exchange.outcome == Outcome::kAnswered &&
         (status == 502 || status == 503 || status == 504);
}

}  // namespace

std::chrono::seconds RetryAfter(const Headers& headers) {
  const std::string_view text = headers.Find("Retry-After").value_or("");
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (end != text.data() + text.size() || seconds < 0) return std::chrono::seconds(0);
  if (error == std::errc::result_out_of_range) return kLongestRetryAfter;
  return std::min(std::chrono::seconds(seconds), kLongestRetryAfter);
}

// Sessions that nobody uses just now. A call takes one for itself, the last that was given back, so
// that what runs alone finds its connections again; what libcurl offers for sharing connections
// does not support threads.
class CurlClient::Pool {
 public:
  explicit Pool(ClientOptions options) : options_(std::move(options)) {
    static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(initialized == CURLE_OK);
  }

  // Sends those of the requests that are named, and puts what became of them into `exchanges`.
  void Send(std::span<const OutgoingRequest> requests, const std::vector<size_t>& due,
            const Deadline& deadline, std::vector<Exchange>* exchanges) {
    std::vector<std::unique_ptr<Transfer>> transfers;
    std::vector<size_t> indexes;
    for (const size_t index : due) {
      const OutgoingRequest& request = requests[index];
      const auto left = std::chrono::duration_cast<milliseconds>(deadline.Remaining());
      const auto timeout = std::min(request.timeout, left);
      if (auto refusal = Refusal(request)) {
        (*exchanges)[index] = {.outcome = Outcome::kNotSent, .detail = *std::move(refusal)};
      } else if (timeout < milliseconds(1)) {  // Which libcurl would take for no limit.
        (*exchanges)[index] = {.outcome = Outcome::kTimedOut, .detail = "no time is left"};
      } else {
        transfers.push_back(std::make_unique<Transfer>(request, options_, timeout));
        indexes.push_back(index);
      }
    }
    if (transfers.empty()) return;
    Session session = TakeSession();
    Perform(session.get(), transfers);
    for (size_t i = 0; i < transfers.size(); ++i) (*exchanges)[indexes[i]] = transfers[i]->Take();
    transfers.clear();  // Before the session goes to another thread.
    GiveBack(std::move(session));
  }

 private:
  size_t KeptPerSession() const {
    return std::clamp<size_t>(options_.max_idle_connections, 1, kConnectionsPerSession);
  }

  Session TakeSession() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Session session = std::move(idle_.back());
        idle_.pop_back();
        return session;
      }
    }
    Session session(curl_multi_init());
    CHECK(session != nullptr);
    curl_multi_setopt(session.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(KeptPerSession()));
    curl_multi_setopt(session.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, kMaxConnectionsPerSend);
    return session;
  }

  void GiveBack(Session session) {
    std::lock_guard lock(mutex_);
    if ((idle_.size() + 1) * KeptPerSession() > options_.max_idle_connections) return;
    idle_.push_back(std::move(session));
  }

  const ClientOptions options_;
  std::mutex mutex_;
  std::vector<Session> idle_;
};

CurlClient::CurlClient(ClientOptions options, const Clock* clock, Sleeper* sleeper)
    : clock_(*clock), sleeper_(*sleeper), pool_(std::make_unique<Pool>(std::move(options))) {}

CurlClient::~CurlClient() = default;

std::vector<Exchange> CurlClient::SendAll(std::span<const OutgoingRequest> requests,
                                          const Deadline& deadline) {
  std::vector<Exchange> exchanges(requests.size());
  std::vector<Backoff> backoffs;
  for (const OutgoingRequest& request : requests) backoffs.emplace_back(PolicyOf(request), nullptr);
  Rounds rounds(requests.size(), &clock_, &sleeper_);
  for (auto due = rounds.Next(); !due.empty(); due = rounds.Next()) {
    pool_->Send(requests, due, deadline, &exchanges);
    for (const size_t index : due) {
      const Exchange& exchange = exchanges[index];
      if (!IsTransient(exchange)) continue;
      const auto wait = backoffs[index].Next(deadline, RetryAfter(exchange.response.headers));
      if (wait) rounds.Again(index, *wait);
    }
  }
  return exchanges;
}

}  // namespace tidemark::http
