#include "http/channel.h"

#include <algorithm>
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
// The executor has its concrete type here. With a type-erased executor, Asio would allocate memory
// for each operation.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Timer = asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor>;
using TlsStream = asio::ssl::stream<Socket>;

// How long the server reads and drops what a client still sends after the last reply. Closing at
// once would reset the connection, and the client might lose the reply.
constexpr std::chrono::milliseconds kLingerTime{1'000};
constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

// What one write sends. Asio sends no more pieces at once.
struct Buffers {
  std::array<asio::const_buffer, 64> all;
  size_t count = 0;
  const asio::const_buffer* begin() const { return all.data(); }
  const asio::const_buffer* end() const { return all.data() + count; }
};

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
  // What the present deadline is for. When one of these changes, a new deadline begins.
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
  void OutputSent();
  void WriteLater();
  void OnWritten(const error_code& error, size_t bytes);
  Buffers Unsent() const;
  void Finish();
  void EndOutput();
  void Discard();

  Timed CurrentTimed() const;
  std::chrono::milliseconds Limit(const Timed& timed) const;
  // The time by which more of the output must be sent. Every byte that is sent moves it to a later
  // time, so a client that reads at the minimum rate or faster never reaches it.
  SteadyClock::time_point SlowestEnd() const;
  void UpdateDeadline();
  void ArmTimer();
  void OnTimer();

  ChannelOwner& owner_;
  const ChannelNames names_;
  Stream stream_;
  Timer timer_;
  Connection connection_;
  Output output_;
  uint64_t writes_ = 0;  // The deadline begins again with each piece that is sent.
  SteadyClock::time_point write_began_ = {};
  size_t sent_ = 0;  // Bytes of the present output that are sent.
  bool handshaking_ = kIsTls;
  bool reading_ = false;
  bool gave_up_reading_ = false;  // The running read was cancelled; its result is ignored.
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
      connection_(&owner->connections(), names_.id, names_.peer, names_.admission_key) {}

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
  // The connection waits in a read. Closing ends it.
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

// Does the next step that the connection asks for: send, close or read.
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
  writing_ = true;
  sent_ = 0;
  if (TryWrite()) {
    OutputSent();
  } else if (!closed_) {
    write_began_ = SteadyClock::now();
    WriteLater();
  }
}

// Sends as much as the kernel accepts at once, which is nearly always everything. This avoids a
// round through the event loop.
template <typename Stream>
bool StreamChannel<Stream>::TryWrite() {
  if constexpr (kIsTls) {
    return false;
  } else {
    error_code error;
    // Sending a single buffer is cheaper than sending a list with one buffer.
    output_.Sent(output_.has_parts() ? stream_.write_some(Unsent(), error)
                                     : stream_.write_some(asio::buffer(output_.bytes()), error));
    if (error && error != asio::error::would_block) Close();
    return !error && output_.empty();
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
  output_.Sent(bytes);
  sent_ += bytes;
  if (!output_.empty()) {
    connection_.OutputSent(output_);
    WriteLater();
    return UpdateDeadline();
  }
  OutputSent();
  connection_.Resume();
  Continue();
}

template <typename Stream>
void StreamChannel<Stream>::OutputSent() {
  writing_ = false;
  connection_.OutputSent(output_);
}

template <typename Stream>
Buffers StreamChannel<Stream>::Unsent() const {
  Buffers buffers;
  std::array<std::string_view, std::tuple_size_v<decltype(buffers.all)>> pieces;
  buffers.count = output_.Gather(pieces);
  for (size_t i = 0; i < buffers.count; ++i) {
    buffers.all[i] = asio::buffer(pieces[i].data(), pieces[i].size());
  }
  return buffers;
}

template <typename Stream>
void StreamChannel<Stream>::Finish() {
  if (peer_finished_) return Close();
  lingering_ = true;
  if constexpr (kIsTls) {
    // The result is ignored: the client need not end TLS on its side.
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
  // The output is sent, so its memory is used for the bytes that are read and dropped.
  output_.bytes().resize(4 << 10);
  socket().async_read_some(asio::buffer(output_.bytes()),
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
SteadyClock::time_point StreamChannel<Stream>::SlowestEnd() const {
  const ServerLimits& limits = owner_.connections().limits;
  const double seconds =
      static_cast<double>(sent_) / static_cast<double>(limits.min_sent_bytes_a_second);
  return write_began_ + limits.write_timeout +
         std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

template <typename Stream>
void StreamChannel<Stream>::UpdateDeadline() {
  const Timed timed = CurrentTimed();
  if (timed == timed_) return;
  timed_ = timed;
  const std::chrono::milliseconds limit = Limit(timed);
  deadline_ = limit == kForever ? SteadyClock::time_point::max() : SteadyClock::now() + limit;
  if (timed.what == Timed::What::kWrite) deadline_ = std::min(deadline_, SlowestEnd());
  // When the deadline moves to a later time, as it does with every request, the timer is not
  // changed. When the timer fires, it checks the deadline again. This saves a timer operation for
  // each request.
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
  if (timed_.what == Timed::What::kWrite) owner_.connections().observer.CountSlowReader();
  if (timed_.what != Timed::What::kRequest) return Close();
  // The read that waits is cancelled, and its result is ignored. The connection can then still send
  // 408.
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
  // Asio does not use the protocol of a connected socket, so v4 is right for IPv6 too.
  plain.assign(Tcp::v4(), socket, error);
  // After this error the next operation fails and closes the channel.
  if (error) close(socket);
  plain.non_blocking(true, error);
  plain.set_option(Tcp::no_delay(true), error);
  if (tls == nullptr) {
    return std::make_shared<StreamChannel<Socket>>(owner, std::move(plain), std::move(names));
  }
  const TlsContext::Handle handle = tls->current();
  // The destructor of Asio's context releases one reference. The stream takes its own.
  SSL_CTX_up_ref(handle.get());
  asio::ssl::context context(handle.get());
  return std::make_shared<StreamChannel<TlsStream>>(owner, TlsStream(std::move(plain), context),
                                                    std::move(names));
}

}  // namespace tidemark::http
