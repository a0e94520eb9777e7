#include "redis/client.h"

#include <cerrno>
#include <charconv>
#include <optional>
#include <signal.h>
#include <string_view>
#include <sys/time.h>
#include <utility>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "redis/tls_stream.h"

namespace tidemark::redis {

namespace {

constexpr size_t kMaxIdle = 64;
// Our scripts return lists of at most a few levels. The limit ends the recursion for any other
// reply.
constexpr int kMaxDepth = 8;
constexpr std::string_view kTcpScheme = "redis://";
constexpr std::string_view kTlsScheme = "rediss://";
constexpr std::string_view kUnixScheme = "unix:";

struct Address {
  std::string host;
  int port = 6379;
  std::string database = "0";
  std::string path;  // The path of a unix socket; empty for TCP.
  bool is_encrypted = false;
};

Error NoAddress(std::string_view text) {
  return Invalid(
      fmt::format("\"{}\" is not the address of a Redis: redis://HOST:PORT, "
                  "redis://HOST:PORT/DATABASE, the same with rediss:// for TLS, or unix:PATH",
                  text));
}

std::optional<int> ParseWhole(std::string_view text, int most) {
  int number = 0;
  const auto end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || number < 0 || number > most) return std::nullopt;
  return number;
}

Result<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text.starts_with(kUnixScheme)) {
    address.path = text.substr(kUnixScheme.size());
    if (address.path.empty()) return NoAddress(text);
    return address;
  }
  address.is_encrypted = text.starts_with(kTlsScheme);
  if (!address.is_encrypted && !text.starts_with(kTcpScheme)) return NoAddress(text);
  std::string_view rest = text.substr(address.is_encrypted ? kTlsScheme.size() : kTcpScheme.size());
  // A password in an address would appear in logs, so it has a setting of its own.
  if (rest.find('@') != std::string_view::npos) return NoAddress("redis://…@…");
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    address.database = rest.substr(slash + 1);
    if (!ParseWhole(address.database, 65'535)) return NoAddress(text);
    rest = rest.substr(0, slash);
  }
  const size_t colon = rest.rfind(':');
  address.host = rest.substr(0, colon);
  if (colon != std::string_view::npos) {
    const auto port = ParseWhole(rest.substr(colon + 1), 65'535);
    if (!port || *port == 0) return NoAddress(text);
    address.port = *port;
  }
  if (address.host.empty()) return NoAddress(text);
  return address;
}

timeval TimeOf(std::chrono::milliseconds length) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(length);
  return {.tv_sec = seconds.count(),
          .tv_usec = std::chrono::microseconds(length - seconds).count()};
}

// If the server has closed the connection, a write of hiredis raises SIGPIPE, which would end the
// process. The signal is blocked on this thread and discarded.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    constexpr timespec kNow{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe_, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

Reply Decode(const redisReply& reply, int depth) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return {static_cast<int64_t>(reply.integer)};
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      return {std::string(reply.str, reply.len)};
    case REDIS_REPLY_ARRAY: {
      std::vector<Reply> list;
      if (depth >= kMaxDepth) return {};
      for (size_t i = 0; i < reply.elements; ++i) {
        list.push_back(Decode(*reply.element[i], depth + 1));
      }
      return {std::move(list)};
    }
    default:
      return {};
  }
}

}  // namespace

int64_t Reply::AsInt() const {
  const auto* number = std::get_if<int64_t>(&value);
  return number ? *number : 0;
}

const std::string& Reply::AsText() const {
  static const std::string none;
  const auto* text = std::get_if<std::string>(&value);
  return text ? *text : none;
}

const std::vector<Reply>& Reply::AsList() const {
  static const std::vector<Reply> none;
  const auto* list = std::get_if<std::vector<Reply>>(&value);
  return list ? *list : none;
}

Status CheckAddress(const std::string& address) {
  TRY(ParseAddress(address));
  return Done{};
}

bool IsOnThisMachine(const std::string& text) {
  const auto address = ParseAddress(text);
  if (!address) return false;
  const std::string& host = address->host;
  return !address->path.empty() || host == "localhost" || host == "::1" || host == "[::1]" ||
         host.starts_with("127.");
}

bool IsEncrypted(const std::string& text) {
  const auto address = ParseAddress(text);
  return address && address->is_encrypted;
}

// One connection, for one thread at a time.
class Client::Connection {
 public:
  static Result<std::unique_ptr<Connection>> Open(const ClientOptions& options) {
    const Address address = TRY(ParseAddress(options.address));
    const timeval timeout = TimeOf(options.connect_timeout);
    redisContext* context =
        address.path.empty() ? redisConnectWithTimeout(address.host.c_str(), address.port, timeout)
                             : redisConnectUnixWithTimeout(address.path.c_str(), timeout);
    std::unique_ptr<Connection> connection(new Connection(context));
    if (context == nullptr || context->err != 0 ||
        redisSetTimeout(context, TimeOf(options.reply_timeout)) != REDIS_OK) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("the Redis at {} cannot be reached: {}", options.address,
                               context ? context->errstr : "out of memory")};
    }
    if (address.is_encrypted) {
      connection->tls_ = TRY(TlsStream::Open(context->fd, address.host, options.authorities)
                                 .WithContext(options.address));
    }
    TRY(connection->Greet(options, address));
    return connection;
  }

  Result<Reply> Run(const std::vector<std::string>& words) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    const WithoutPipeSignal without_signal;
    const auto count = static_cast<int>(words.size());
    const std::unique_ptr<void, void (*)(void*)> reply(
        tls_ ? ExchangeOverTls(count, texts.data(), lengths.data())
             : redisCommandArgv(context_.get(), count, texts.data(), lengths.data()),
        freeReplyObject);
    if (!reply) {
      is_broken_ = true;
      // Usually the server has closed an idle connection, after a restart or after its own timeout.
      // This is noticed only by the next command.
      is_gone_ = tls_ ? tls_->is_gone()
                      : context_->err == REDIS_ERR_EOF || (context_->err == REDIS_ERR_IO &&
                                                           (errno == EPIPE || errno == ECONNRESET));
      return Error{ErrorCode::kUnknown,
                   fmt::format("no reply from the Redis: {}",
                               tls_ ? "the encrypted connection failed" : context_->errstr)};
    }
    const auto& decoded = *static_cast<const redisReply*>(reply.get());
    if (decoded.type == REDIS_REPLY_ERROR) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("the Redis answers: {}", std::string(decoded.str, decoded.len))};
    }
    return Decode(decoded, 0);
  }

  bool is_broken() const { return is_broken_; }
  // The server has closed the connection.
  bool is_gone() const { return is_gone_; }

 private:
  explicit Connection(redisContext* context) : context_(context, redisFree) {}

  // Does what redisCommandArgv does. Null when the connection failed.
  void* ExchangeOverTls(int count, const char** texts, const size_t* lengths) {
    char* command = nullptr;
    const int size = redisFormatCommandArgv(&command, count, texts, lengths);
    const std::unique_ptr<char, void (*)(char*)> owned(command, redisFreeCommand);
    if (size < 0 || !tls_->Write({command, static_cast<size_t>(size)})) return nullptr;
    void* reply = nullptr;
    while (redisReaderGetReply(context_->reader, &reply) == REDIS_OK && reply == nullptr) {
      const std::string_view piece = tls_->Read();
      if (piece.empty()) return nullptr;
      if (redisReaderFeed(context_->reader, piece.data(), piece.size()) != REDIS_OK) return nullptr;
    }
    return reply;
  }

  // The command of the caller has not been sent yet, so a failure here is never kUnknown.
  Status Greet(const ClientOptions& options, const Address& address) {
    std::vector<std::vector<std::string>> commands;
    if (!options.password.empty()) {
      commands.push_back({"AUTH"});
      if (!options.user.empty()) commands.back().push_back(options.user);
      commands.back().emplace_back(options.password.Reveal());
    }
    if (address.database != "0") commands.push_back({"SELECT", address.database});
    for (const auto& command : commands) {
      const auto reply = Run(command);
      if (reply) continue;
      return Error{ErrorCode::kUnavailable,
                   fmt::format("the Redis at {} refuses {}: {}", options.address, command.front(),
                               reply.error().message)};
    }
    return Done{};
  }

  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
  std::unique_ptr<TlsStream> tls_;  // Null: not encrypted. Uses the socket of the context.
  bool is_broken_ = false;
  bool is_gone_ = false;
};

Client::Client(ClientOptions options) : options_(std::move(options)) {}

Client::~Client() = default;

Result<std::unique_ptr<Client::Connection>> Client::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return Connection::Open(options_);
}

void Client::GiveBack(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (connection->is_broken()) {
    // The other connections are to the same server and are probably closed too.
    idle_.clear();
  } else if (idle_.size() < kMaxIdle) {
    idle_.push_back(std::move(connection));
  }
}

Result<Reply> Client::Run(const std::vector<std::string>& words, Repeat repeat) {
  auto connection = TRY(Take());
  auto reply = connection->Run(words);
  const bool is_gone = connection->is_gone();
  GiveBack(std::move(connection));
  // Repeated at most once: the second call does not ask for a repetition.
  if (is_gone && repeat == Repeat::kYes) return Run(words);
  return reply;
}

}  // namespace tidemark::redis
