#include "http/channel.h"

#include <array>
#include <chrono>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <openssl/ssl.h>

namespace tidemark::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

using SteadyClock = std::chrono::steady_clock;
using Tcp = asio::ip::tcp;
// With the executor's type known, nothing is erased and allocated on the way of a request.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Timer = asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor>;
using TlsStream = asio::ssl::stream<Socket>;

// How long the rest of what a client sends is thrown away after the last reply. Closing at once
// would reset the connection, and could take the reply back from a client that is still sending.
constexpr std::chrono::milliseconds kLingerTime{1'000};
constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

template <typename Stream>
class StreamChannel final : public Channel {
 public:
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;

  StreamChannel(ChannelOwner* owner, Stream stream, ChannelNames names);

  void Start() override;
  void Answer(uint64_t request, Response response) override;
  void AddPiece(uint64_t request, Piece piece) override;
  void Drain() override;
  void Close() override;

 private:
  // What the time is running for: another wait, another deadline.
  struct Timed {
    enum class What { kNothing, kHandshake, kRequest, kWrite, kLinger } what = What::kNothing;
    Connection::Wait wait = Connection::Wait::kForHead;
    uint64_t number = 0;
    friend bool operator==(const Timed&, const Timed&) = default;
  };

  std::shared_ptr<StreamChannel> Self() {
    return std::static_pointer_cast<StreamChannel>(shared_from_this());
  }
  Socket& socket() {
    if constexpr (kIsTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void Continue();
  void Read();
  void OnRead(const error_code& error, size_t bytes);
  void Write();
  bool TryWrite();
  void WriteLater();
  void OnWritten(const error_code& error, size_t bytes);
  std::array<asio::const_buffer, 2> Unsent() const;
  void Finish();
  void EndOutput();
  void Discard();

  Timed CurrentTimed() const;
  std::chrono::milliseconds Limit(const Timed& timed) const;
  void UpdateDeadline();
  void ArmTimer();
  void OnTimer();

  ChannelOwner& owner_;
  const ChannelNames names_;
  Stream stream_;
  Timer timer_;
  Connection connection_;
  Connection::Output output_;
  size_t sent_ = 0;      // Of the output.
  uint64_t writes_ = 0;  // Each piece that is sent restarts the time for the next.
  bool handshaking_ = kIsTls;
  bool reading_ = false;
  bool gave_up_reading_ = false;  // The read under way was cancelled; its outcome is of no use.
  bool writing_ = false;
  bool lingering_ = false;
  bool peer_finished_ = false;
  bool closed_ = false;

  Timed timed_;
  SteadyClock::time_point deadline_ = SteadyClock::time_point::max();
  SteadyClock::time_point armed_for_ = SteadyClock::time_point::max();
};

template <typename Stream>
StreamChannel<Stream>::StreamChannel(ChannelOwner* owner, Stream stream, ChannelNames names)
    : owner_(*owner),
      names_(std::move(names)),
      stream_(std::move(stream)),
      timer_(owner->io()),
      connection_(&owner->connections(), names_.id, names_.peer) {}

template <typename Stream>
void StreamChannel<Stream>::Start() {
  if constexpr (kIsTls) {
    UpdateDeadline();
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = Self()](const error_code& error) {
                              if (error) return self->Close();
                              self->handshaking_ = false;
                              self->Continue();
                            });
  } else {
    Continue();
  }
}

template <typename Stream>
void StreamChannel<Stream>::Answer(uint64_t request, Response response) {
  connection_.Answer(request, std::move(response));
  connection_.Resume();
  Continue();
}

template <typename Stream>
void StreamChannel<Stream>::AddPiece(uint64_t request, Piece piece) {
  connection_.AddPiece(request, std::move(piece));
  Continue();
}

template <typename Stream>
void StreamChannel<Stream>::Drain() {
  if (handshaking_) return Close();
  connection_.Drain();
  // An idle connection has a read under way, which would otherwise wait for the client.
  if (connection_.finished() && reading_) return Close();
}

template <typename Stream>
void StreamChannel<Stream>::Close() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  timer_.cancel(ignored);
  socket().close(ignored);
  owner_.Forget(names_.id, names_.admission_key);
}

// Does what the connection asks for next: send, end, or read.
template <typename Stream>
void StreamChannel<Stream>::Continue() {
  while (!closed_ && !writing_ && !lingering_) {
    if (connection_.has_output()) {
      Write();
      if (!writing_) connection_.Resume();
      continue;
    }
    if (connection_.finished()) {
      Finish();
    } else if (!reading_ && connection_.wants_bytes()) {
      Read();
    }
    break;
  }
  if (!closed_) UpdateDeadline();
}

template <typename Stream>
void StreamChannel<Stream>::Read() {
  reading_ = true;
  const std::span<char> room = connection_.Room();
  stream_.async_read_some(
      asio::buffer(room.data(), room.size()),
      [self = Self()](const error_code& error, size_t bytes) { self->OnRead(error, bytes); });
}

template <typename Stream>
void StreamChannel<Stream>::OnRead(const error_code& error, size_t bytes) {
  reading_ = false;
  if (closed_ || gave_up_reading_) return;
  if (error == asio::error::eof) {
    peer_finished_ = true;
    connection_.PeerFinished();
  } else if (error) {
    return Close();
  } else {
    connection_.Received(bytes);
  }
  Continue();
}

template <typename Stream>
void StreamChannel<Stream>::Write() {
  connection_.TakeOutput(&output_);
  sent_ = 0;
  writing_ = true;
  if (TryWrite()) {
    writing_ = false;
  } else if (!closed_) {
    WriteLater();
  }
}

// Sends what the kernel takes at once, which is nearly always all: no trip through the reactor.
template <typename Stream>
bool StreamChannel<Stream>::TryWrite() {
  if constexpr (kIsTls) {
    return false;
  } else {
    error_code error;
    // One piece is cheaper to hand to the kernel than a list of one.
    sent_ += output_.body.empty() ? stream_.write_some(asio::buffer(output_.bytes), error)
                                  : stream_.write_some(Unsent(), error);
    if (error && error != asio::error::would_block) Close();
    return !error && sent_ == output_.bytes.size() + output_.body.size();
  }
}

template <typename Stream>
void StreamChannel<Stream>::WriteLater() {
  ++writes_;
  stream_.async_write_some(Unsent(), [self = Self()](const error_code& error, size_t bytes) {
    self->OnWritten(error, bytes);
  });
}

template <typename Stream>
void StreamChannel<Stream>::OnWritten(const error_code& error, size_t bytes) {
  if (closed_) return;
  if (error) return Close();
  sent_ += bytes;
  if (sent_ < output_.bytes.size() + output_.body.size()) {
    WriteLater();
    return UpdateDeadline();
  }
  writing_ = false;
  connection_.Resume();
  Continue();
}

template <typename Stream>
std::array<asio::const_buffer, 2> StreamChannel<Stream>::Unsent() const {
  const auto head = asio::buffer(output_.bytes) + sent_;
  const size_t head_bytes = output_.bytes.size();
  const auto body = asio::buffer(output_.body) + (sent_ > head_bytes ? sent_ - head_bytes : 0);
  // TLS looks at the first piece only.
  if (head.size() == 0) return {body, asio::const_buffer()};
  return {head, body};
}

template <typename Stream>
void StreamChannel<Stream>::Finish() {
  if (peer_finished_) return Close();
  lingering_ = true;
  if constexpr (kIsTls) {
    // Whether the client ends TLS in its turn, or goes on sending, is all the same.
    stream_.async_shutdown([self = Self()](const error_code&) { self->EndOutput(); });
  } else {
    EndOutput();
  }
}

template <typename Stream>
void StreamChannel<Stream>::EndOutput() {
  if (closed_) return;
  error_code ignored;
  socket().shutdown(Socket::shutdown_send, ignored);
  Discard();
}

template <typename Stream>
void StreamChannel<Stream>::Discard() {
  // The output is sent; its memory takes what is thrown away.
  output_.bytes.resize(4 << 10);
  socket().async_read_some(asio::buffer(output_.bytes),
                           [self = Self()](const error_code& error, size_t) {
                             if (self->closed_) return;
                             if (error) return self->Close();
                             self->Discard();
                           });
}

template <typename Stream>
typename StreamChannel<Stream>::Timed StreamChannel<Stream>::CurrentTimed() const {
  using What = typename Timed::What;
  if (lingering_) return {.what = What::kLinger};
  if (handshaking_) return {.what = What::kHandshake};
  if (writing_) return {.what = What::kWrite, .number = writes_};
  if (connection_.wait() == Connection::Wait::kForHandler) return {};
  return {.what = What::kRequest, .wait = connection_.wait(), .number = connection_.requests()};
}

template <typename Stream>
std::chrono::milliseconds StreamChannel<Stream>::Limit(const Timed& timed) const {
  using What = typename Timed::What;
  const ServerLimits& limits = owner_.connections().limits;
  switch (timed.what) {
    case What::kNothing:
      return kForever;
    case What::kHandshake:
      return limits.head_timeout;
    case What::kWrite:
      return limits.write_timeout;
    case What::kLinger:
      return kLingerTime;
    case What::kRequest:
      break;
  }
  if (timed.wait == Connection::Wait::kForHead) return limits.head_timeout;
  if (timed.wait == Connection::Wait::kForBody) return limits.body_timeout;
  return limits.idle_timeout;
}

template <typename Stream>
void StreamChannel<Stream>::UpdateDeadline() {
  const Timed timed = CurrentTimed();
  if (timed == timed_) return;
  timed_ = timed;
  const std::chrono::milliseconds limit = Limit(timed);
  deadline_ = limit == kForever ? SteadyClock::time_point::max() : SteadyClock::now() + limit;
  // A deadline that moves on, as it does with every request, leaves the timer alone: when it
  // fires, it looks again.
  if (deadline_ < armed_for_) ArmTimer();
}

template <typename Stream>
void StreamChannel<Stream>::ArmTimer() {
  armed_for_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = Self()](const error_code& error) {
    if (!error) self->OnTimer();
  });
}

template <typename Stream>
void StreamChannel<Stream>::OnTimer() {
  if (closed_) return;
  armed_for_ = SteadyClock::time_point::max();
  if (deadline_ == SteadyClock::time_point::max()) return;
  if (SteadyClock::now() < deadline_) return ArmTimer();
  if (timed_.what != Timed::What::kRequest) return Close();
  gave_up_reading_ = true;
  error_code ignored;
  socket().cancel(ignored);
  connection_.TimedOut();
  Continue();
}

}  // namespace

std::shared_ptr<Channel> OpenChannel(ChannelOwner* owner, int socket, ChannelNames names,
                                     const TlsContext* tls) {
  Socket plain(owner->io());
  error_code error;
  // Asio does nothing with the protocol of a connected socket; it may be IPv6 as well.
  plain.assign(Tcp::v4(), socket, error);
  // What follows then fails, and closes the channel.
  if (error) close(socket);
  plain.non_blocking(true, error);
  plain.set_option(Tcp::no_delay(true), error);
  if (tls == nullptr) {
    return std::make_shared<StreamChannel<Socket>>(owner, std::move(plain), std::move(names));
  }
  const TlsContext::Handle handle = tls->current();
  // Asio's context frees one reference; the stream takes its own.
  SSL_CTX_up_ref(handle.get());
  asio::ssl::context context(handle.get());
  return std::make_shared<StreamChannel<TlsStream>>(owner, TlsStream(std::move(plain), context),
                                                    std::move(names));
}

}  // namespace tidemark::http
