#include "http/loop.h"

#include <errno.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "base/turn.h"
#include "http/channel.h"
#include "http/listener.h"
#include "http/mailbox.h"
#include "http/reply_writer.h"

namespace tidemark::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

using SteadyClock = std::chrono::steady_clock;
using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor>;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

constexpr std::chrono::milliseconds kAcceptPause{100};
// Clients that always have another request ready must not delay for ever what a turn hands over.
constexpr size_t kMaxHandledInATurn = 128;
// How long the socket of a client that was turned away stays open, and how many such sockets a loop
// has: they are beyond the number of connections, and need descriptors too.
constexpr std::chrono::milliseconds kLeavingTime{1'000};
constexpr size_t kMaxLeaving = 16;

// A client that was turned away.
struct Leaving {
  Leaving(asio::io_context& io, int descriptor) : socket(io, descriptor), timer(io) {}
  Descriptor socket;
  Timer timer;
};

}  // namespace

class Loop::State final : private ChannelOwner {
 public:
  State(const LoopContext& context, int listener, uint64_t first_id);
  ~State() override;

  void Run();
  void Stop(std::chrono::milliseconds patience);

 private:
  bool RunTurn();
  void WaitForClients();
  void AcceptAll();
  void PauseAccepting();
  void Welcome(int socket, const Peer& peer);
  void TurnAway(int socket);
  void CloseLater(int socket);
  void EmptyMailbox();
  void Drain(std::chrono::milliseconds patience);
  void CloseAll();
  void EndIfDone();

  asio::io_context& io() override { return io_; }
  ConnectionContext& connections() override { return connections_; }
  void Forget(uint64_t id, const std::string& admission_key) override;

  const LoopContext context_;
  // Only the thread of the loop uses the sockets. Other threads only post to it.
  asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  asio::executor_work_guard<Executor> work_{io_.get_executor()};
  Descriptor listener_;
  Timer timer_;  // For the pause in accepting, and for the patience of Stop.
  ConnectionContext connections_;
  std::unordered_map<uint64_t, std::shared_ptr<Channel>> channels_;
  std::unordered_set<std::shared_ptr<Leaving>> leaving_;
  uint64_t next_id_ = 1;
  bool stopping_ = false;
};

Loop::State::State(const LoopContext& context, int listener, uint64_t first_id)
    : context_(context),
      listener_(io_, listener),
      timer_(io_),
      connections_{.limits = context.limits,
                   .handler = context.handler,
                   .clock = context.clock,
                   .observer = context.observer,
                   .mailbox = std::make_shared<Mailbox>(
                       [this] { asio::post(io_, [this] { EmptyMailbox(); }); }),
                   .ids = RequestIds(first_id),
                   .date = DateCache(context.clock),
                   .admission = &context.admission,
                   .bad_requests = &context.bad_requests,
                   .readers = &context.readers} {}

Loop::State::~State() {
  connections_.mailbox->Close();
  CloseAll();
}

void Loop::State::Run() {
  connections_.mailbox->Open();
  const Home::Here here(connections_.mailbox);
  WaitForClients();
  while (RunTurn()) {
  }
}

// Waits until something is ready, and then handles everything that is ready, up to a limit. What
// the handlers pass to other threads is collected, and passed on at the end of the turn. Returns
// false when the loop has ended.
bool Loop::State::RunTurn() {
  const Turn turn;
  if (io_.run_one() == 0) return false;
  for (size_t handled = 1; handled < kMaxHandledInATurn; ++handled) {
    if (io_.poll_one() == 0) break;
  }
  return true;
}

void Loop::State::Stop(std::chrono::milliseconds patience) {
  asio::post(io_, [this, patience] { Drain(patience); });
}

void Loop::State::WaitForClients() {
  listener_.async_wait(Descriptor::wait_read, [this](const error_code& error) {
    if (!error && !stopping_) AcceptAll();
  });
}

void Loop::State::AcceptAll() {
  for (;;) {
    sockaddr_storage name = {};
    socklen_t length = sizeof name;
    const int socket = accept4(listener_.native_handle(), reinterpret_cast<sockaddr*>(&name),
                               &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      Welcome(socket, PeerOf(name));
    } else if (errno == EAGAIN) {
      return WaitForClients();
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return PauseAccepting();
    }
    // Other errors concern one client, which has already left.
  }
}

// There are no descriptors or no memory left. Trying again at once would only use the processor.
void Loop::State::PauseAccepting() {
  timer_.expires_after(kAcceptPause);
  timer_.async_wait([this](const error_code& error) {
    if (!error && !stopping_) AcceptAll();
  });
}

void Loop::State::Welcome(int socket, const Peer& peer) {
  if (!context_.admission.Enter(peer.admission_key)) return TurnAway(socket);
  context_.observer.CountOpened();
  const uint64_t id = next_id_++;
  const std::shared_ptr<Channel> channel = OpenChannel(
      this, socket, {.id = id, .peer = peer.address, .admission_key = peer.admission_key},
      context_.tls);
  channels_.emplace(id, channel);
  channel->Start();
}

// Tries to answer with 503, without blocking. Only a client of plain HTTP can read it.
void Loop::State::TurnAway(int socket) {
  context_.observer.CountRefusal();
  if (context_.tls == nullptr) {
    Response busy = Problem(503, "There are too many connections: try again later.");
    busy.headers.Add("Retry-After", "1");
    std::string bytes;
    AppendReplyHead(busy,
                    {.date = connections_.date.Now(),
                     .request_id = connections_.ids.Next(),
                     .keep_alive = false},
                    &bytes);
    bytes += busy.body;
    (void)send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    shutdown(socket, SHUT_WR);
    return CloseLater(socket);
  }
  close(socket);
}

// The client may still be sending its request. Bytes that arrive at a closed socket are answered
// with a reset, and the client might lose the reply. So the socket stays open for a moment.
void Loop::State::CloseLater(int socket) {
  if (stopping_ || leaving_.size() >= kMaxLeaving) {
    char bytes[4096];
    (void)recv(socket, bytes, sizeof bytes, 0);  // What has arrived already causes no reset then.
    close(socket);
    return;
  }
  const auto leaving = std::make_shared<Leaving>(io_, socket);
  leaving_.insert(leaving);
  leaving->timer.expires_after(kLeavingTime);
  leaving->timer.async_wait([this, leaving](const error_code&) { leaving_.erase(leaving); });
}

void Loop::State::Forget(uint64_t id, const std::string& admission_key) {
  context_.admission.Leave(admission_key);
  context_.observer.CountClosed();
  channels_.erase(id);
  EndIfDone();
}

void Loop::State::EmptyMailbox() {
  connections_.mailbox->DoWork();
  for (Letter& letter : connections_.mailbox->Take()) {
    const auto found = channels_.find(letter.connection);
    if (found == channels_.end()) continue;
    // Held, because an answer may close the channel, and that removes it from channels_.
    const std::shared_ptr<Channel> channel = found->second;
    if (Response* response = std::get_if<Response>(&letter.content)) {
      channel->Answer(letter.request, std::move(*response));
    } else {
      channel->AddPiece(letter.request, std::get<Piece>(std::move(letter.content)));
    }
  }
}

void Loop::State::Drain(std::chrono::milliseconds patience) {
  stopping_ = true;
  error_code ignored;
  listener_.close(ignored);
  timer_.expires_after(patience);
  timer_.async_wait([this](const error_code& error) {
    if (!error) CloseAll();
  });
  for (const auto& leaving : leaving_) leaving->timer.cancel();
  const auto channels = channels_;
  // Over a copy, because a channel that closes removes itself from channels_.
  for (const auto& [id, channel] : channels) channel->Drain();
  EndIfDone();
}

void Loop::State::CloseAll() {
  const auto channels = channels_;
  // Over a copy, because a channel that closes removes itself from channels_.
  for (const auto& [id, channel] : channels) channel->Close();
}

void Loop::State::EndIfDone() {
  if (!stopping_ || !channels_.empty()) return;
  connections_.mailbox->Close();
  timer_.cancel();
  // The mailbox is closed before the loop ends, so that no later reply is posted to it.
  work_.reset();
}

Loop::Loop(const LoopContext& context, int listener, uint64_t first_id)
    : state_(std::make_unique<State>(context, listener, first_id)) {}

Loop::~Loop() = default;

void Loop::Run() { state_->Run(); }

void Loop::Stop(std::chrono::milliseconds patience) { state_->Stop(patience); }

}  // namespace tidemark::http
