#include "http/client.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <curl/curl.h>

#include "base/ascii.h"
#include "base/check.h"
#include "base/retry.h"
#include "http/address.h"
#include "http/retry_schedule.h"

namespace tidemark::http {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kLongestRetryAfter = std::chrono::hours(1);
// Connections that a session for sinks keeps between calls.
constexpr long kConnectionsPerSession = 8;
// The loop wakes up at least this often.
constexpr int kLongestPollMs = 10'000;

// As HTTP has it for names of headers.
bool IsTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsTokenCharacter);
}

// A line break in a value would begin another header, or another request.
bool IsHeaderValue(std::string_view value) { return std::ranges::none_of(value, IsControl); }

bool IsUrl(std::string_view url) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) return false;
  return url.size() <= kMaxUrlBytes && std::none_of(url.begin(), url.end(), [](char c) {
           return IsControl(c) || c == '\t' || c == ' ';
         });
}

// Why the request must not be sent; nullopt when it may be.
std::optional<std::string> Refusal(const OutgoingRequest& request) {
  if (!IsUrl(request.url)) return "the URL is not one of http or https, or has bad characters";
  for (const Header& header : request.headers) {
    if (!IsHeaderName(header.name)) return "a header has a bad name";
    if (!IsHeaderValue(header.value)) return "a header has a control character in its value";
  }
  return std::nullopt;
}

// Whether the request may be sent twice without a further effect.
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
// A multi handle runs several transfers, and owns the connections that are kept after them.
using Session = std::unique_ptr<CURLM, FreeMulti>;

// One attempt at one request. libcurl holds its address, so it stays where it is.
class Transfer {
 public:
  Transfer(const OutgoingRequest& request, const ClientOptions& options, milliseconds timeout);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_.get(); }
  void set_code(CURLcode code) { code_ = code; }
  bool IsToStop() const { return request_.stop.stop_requested(); }
  // Called after the session has finished the transfer.
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
  // Both take a piece of the body. False ends the transfer.
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
  Set(CURLOPT_FRESH_CONNECT, 1L);  // The address of a kept connection was not checked.
}

void Transfer::SetRules(const ClientOptions& options, milliseconds timeout) {
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  // libcurl must not wait for its resolver thread after the timeout: a name server may hang.
  Set(CURLOPT_QUICK_EXIT, 1L);
  Set(CURLOPT_PROTOCOLS_STR, "http,https");
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_FOLLOWLOCATION, 0L);
  Set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  Set(CURLOPT_PROXY, "");  // Otherwise the environment may set one.
  Set(CURLOPT_SSL_VERIFYPEER, 1L);
  Set(CURLOPT_SSL_VERIFYHOST, 2L);
  Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (options.max_idle_connections == 0) Set(CURLOPT_FORBID_REUSE, 1L);
  if (options.authorities.empty()) return;
  Set(CURLOPT_CAINFO, options.authorities.c_str());
  // Without this the system's folder of certificates would be trusted too.
  Set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
}

void Transfer::AddHeader(const std::string& line) {
  curl_slist* const list = curl_slist_append(headers_.get(), line.c_str());
  CHECK(list != nullptr);
  (void)headers_.release();
  headers_.reset(list);
}

void Transfer::SetHeaders() {
  // A name without a value removes a header that libcurl adds by itself.
  AddHeader("Expect:");
  if (!request_.headers.Find("Content-Type")) AddHeader("Content-Type:");
  for (const Header& header : request_.headers) {
    AddHeader(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  Set(CURLOPT_HTTPHEADER, headers_.get());
}

// When a kept connection turns out to be closed, libcurl sends the request again on a new one. Only
// repeatable requests may be sent twice. To prevent it for other requests, their body is given in a
// way that libcurl cannot rewind, and requests without a body always use a new connection.
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
  // With a sink, only the body of another answer than 2xx is kept in memory. It has a smaller
  // limit.
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

// The check happens after the name was resolved, on the address that is connected to. A check
// before that would be useless against a name that resolves to another address the second time.
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
    // libcurl 7.88 leaves the line end in the value when a header has an empty value.
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

Transfer& TransferOf(CURL* easy) {
  Transfer* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return *transfer;
}

// Runs one transfer on this thread.
void Perform(CURLM* session, Transfer* transfer) {
  CHECK(curl_multi_add_handle(session, transfer->easy()) == CURLM_OK);
  // Every transfer has its timeout, so the loop ends.
  for (int running = 1; running > 0 && !transfer->IsToStop();) {
    CHECK(curl_multi_perform(session, &running) == CURLM_OK);
    if (running > 0) CHECK(curl_multi_poll(session, nullptr, 0, 1000, nullptr) == CURLM_OK);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(session, &left)) {
    transfer->set_code(message->data.result);
  }
  curl_multi_remove_handle(session, transfer->easy());
}

// How long an attempt may take; an Exchange when it cannot be made at all.
std::variant<milliseconds, Exchange> TimeoutOf(const OutgoingRequest& request,
                                               const Deadline& deadline) {
  if (auto refusal = Refusal(request)) {
    return Exchange{.outcome = Outcome::kNotSent, .detail = *std::move(refusal)};
  }
  const auto left = std::chrono::duration_cast<milliseconds>(deadline.Remaining());
  const auto timeout = std::min(request.timeout, left);
  if (timeout >= milliseconds(1)) return timeout;
  // For libcurl a timeout of zero means no timeout.
  return Exchange{.outcome = Outcome::kTimedOut, .detail = "no time is left"};
}

RetryPolicy PolicyOf(const OutgoingRequest& request) {
  // A sink cannot take back the bytes of an earlier attempt, so there is no retry with a sink.
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

// The idle sessions, for requests with a sink. A call takes the session that was used last, so that
// a single caller finds its connections again. Sessions are not shared, because libcurl does not
// support sharing connections between threads.
class CurlClient::Sessions {
 public:
  explicit Sessions(const ClientOptions& options) : options_(options) {
    static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(initialized == CURLE_OK);
  }

  Exchange Send(const OutgoingRequest& request, const Deadline& deadline) {
    auto timeout = TimeoutOf(request, deadline);
    if (auto* refused = std::get_if<Exchange>(&timeout)) return std::move(*refused);
    auto transfer = std::make_unique<Transfer>(request, options_, std::get<milliseconds>(timeout));
    Session session = TakeSession();
    Perform(session.get(), transfer.get());
    Exchange exchange = transfer->Take();
    transfer.reset();  // Before the session goes to another thread.
    GiveBack(std::move(session));
    return exchange;
  }

 private:
  Session TakeSession() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Session session = std::move(idle_.back());
        idle_.pop_back();
        return session;
      }
    }
    Session session(curl_multi_init());
    CHECK(session != nullptr);
    curl_multi_setopt(session.get(), CURLMOPT_MAXCONNECTS, kConnectionsPerSession);
    return session;
  }

  void GiveBack(Session session) {
    const std::lock_guard lock(mutex_);
    if ((idle_.size() + 1) * size_t{kConnectionsPerSession} > options_.max_idle_connections) return;
    idle_.push_back(std::move(session));
  }

  const ClientOptions& options_;
  std::mutex mutex_;
  std::vector<Session> idle_;
};

// The thread that moves the bytes of all other requests, over one session.
class CurlClient::Loop {
 public:
  explicit Loop(const ClientOptions& options) : options_(options), session_(curl_multi_init()) {
    CHECK(session_ != nullptr);
    const auto kept = std::max<size_t>(options_.max_idle_connections, 1);
    curl_multi_setopt(session_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(kept));
    curl_multi_setopt(session_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, kMaxClientConnections);
    thread_ = std::thread([this] { Run(); });
  }

  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    Wake();
    thread_.join();
  }

  Later<Exchange> Submit(OutgoingRequest request, const Deadline& deadline) {
    auto timeout = TimeoutOf(request, deadline);
    if (auto* refused = std::get_if<Exchange>(&timeout)) return std::move(*refused);
    auto [promise, later] = MakeLater<Exchange>();
    promise.OnCancel([this] { Wake(); });
    auto job = std::make_unique<Job>(std::move(request), options_, std::get<milliseconds>(timeout),
                                     std::move(promise));
    {
      const std::lock_guard lock(mutex_);
      added_.push_back(std::move(job));
    }
    Wake();
    return std::move(later);
  }

 private:
  struct Job {
    Job(OutgoingRequest given, const ClientOptions& options, milliseconds timeout,
        Promise<Exchange> owed)
        : request(std::move(given)),
          transfer(request, options, timeout),
          promise(std::move(owed)) {}
    const OutgoingRequest request;
    Transfer transfer;
    Promise<Exchange> promise;
  };
  using Jobs = std::map<CURL*, std::unique_ptr<Job>>;

  // May be called from any thread.
  // libcurl remembers a wake-up until the next poll, so none is lost.
  void Wake() { curl_multi_wakeup(session_.get()); }

  void Run() {
    while (TakeAdded()) {
      EndCancelled();
      int running = 0;
      CHECK(curl_multi_perform(session_.get(), &running) == CURLM_OK);
      EndDone();
      // Returns early when a socket is ready, when a timeout is due, or after Wake.
      CHECK(curl_multi_poll(session_.get(), nullptr, 0, kLongestPollMs, nullptr) == CURLM_OK);
    }
    while (!jobs_.empty()) Cancel(jobs_.begin());
  }

  // False when the loop is to end.
  bool TakeAdded() {
    std::vector<std::unique_ptr<Job>> added;
    bool goes_on = true;
    {
      const std::lock_guard lock(mutex_);
      added.swap(added_);
      goes_on = !stopping_;
    }
    for (std::unique_ptr<Job>& job : added) {
      CURL* const easy = job->transfer.easy();
      CHECK(curl_multi_add_handle(session_.get(), easy) == CURLM_OK);
      jobs_.emplace(easy, std::move(job));
    }
    return goes_on;
  }

  void EndCancelled() {
    for (auto at = jobs_.begin(); at != jobs_.end();) {
      at = at->second->promise.cancelled() ? Cancel(at) : std::next(at);
    }
  }

  void EndDone() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(session_.get(), &left)) {
      CURL* const easy = message->easy_handle;
      TransferOf(easy).set_code(message->data.result);
      const auto at = jobs_.find(easy);
      const std::unique_ptr<Job> job = Remove(at);
      // The job is removed before: its callback runs here and may submit the next request.
      job->promise.Fulfil(job->transfer.Take());
    }
  }

  Jobs::iterator Cancel(Jobs::iterator at) {
    const auto next = std::next(at);
    const std::unique_ptr<Job> job = Remove(at);
    job->promise.Fulfil(Error{ErrorCode::kCancelled, "the request was cancelled"});
    return next;
  }

  std::unique_ptr<Job> Remove(Jobs::iterator at) {
    curl_multi_remove_handle(session_.get(), at->first);
    std::unique_ptr<Job> job = std::move(at->second);
    jobs_.erase(at);
    return job;
  }

  const ClientOptions& options_;
  const Session session_;
  Jobs jobs_;  // Of the thread in Run.

  std::mutex mutex_;
  std::vector<std::unique_ptr<Job>> added_;  // And not seen by Run yet.
  bool stopping_ = false;
  std::thread thread_;
};

CurlClient::CurlClient(ClientOptions options, const Clock* clock, Sleeper* sleeper)
    : clock_(*clock),
      sleeper_(*sleeper),
      options_(std::move(options)),
      sessions_(std::make_unique<Sessions>(options_)),
      loop_(std::make_unique<Loop>(options_)) {}

CurlClient::~CurlClient() = default;

Later<Exchange> CurlClient::Submit(OutgoingRequest request, const Deadline& deadline) {
  CHECK(request.sink == nullptr);
  return loop_->Submit(std::move(request), deadline);
}

void CurlClient::Attempt(std::span<const OutgoingRequest> requests, const std::vector<size_t>& due,
                         const Deadline& deadline, std::vector<Exchange>* exchanges) {
  std::vector<std::pair<size_t, Later<Exchange>>> submitted;
  for (const size_t index : due) {
    if (requests[index].sink != nullptr) continue;
    submitted.emplace_back(index, loop_->Submit(requests[index], deadline));
  }
  for (const size_t index : due) {
    if (requests[index].sink == nullptr) continue;
    (*exchanges)[index] = sessions_->Send(requests[index], deadline);
  }
  for (auto& [index, exchange] : submitted) (*exchanges)[index] = *exchange.Wait();
}

std::vector<Exchange> CurlClient::SendAll(std::span<const OutgoingRequest> requests,
                                          const Deadline& deadline) {
  std::vector<Exchange> exchanges(requests.size());
  std::vector<Backoff> backoffs;
  for (const OutgoingRequest& request : requests) backoffs.emplace_back(PolicyOf(request), nullptr);
  RetrySchedule schedule(requests.size(), &clock_, &sleeper_);
  for (auto due = schedule.Next(); !due.empty(); due = schedule.Next()) {
    Attempt(requests, due, deadline, &exchanges);
    for (const size_t index : due) {
      const Exchange& exchange = exchanges[index];
      if (!IsTransient(exchange)) continue;
      const auto wait = backoffs[index].Next(deadline, RetryAfter(exchange.response.headers));
      if (wait) schedule.Again(index, *wait);
    }
  }
  return exchanges;
}

}  // namespace tidemark::http
