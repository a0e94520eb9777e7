// The HTTP protocol of one connection, without a socket: bytes go in, requests go to the handler,
// and replies come out as bytes. The owner reads, writes and waits as the Connection asks.
//
//   connection.Received(count);              // What was read into Room().
//   if (connection.has_output()) Send(connection.TakeOutput());
//   if (connection.finished()) Close();
//
// It is used only by the thread of its loop. It never blocks and never throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/worker_pool.h"
#include "http/admission.h"
#include "http/bad_requests.h"
#include "http/input_buffer.h"
#include "http/limits.h"
#include "http/mailbox.h"
#include "http/message.h"
#include "http/observer.h"
#include "http/output.h"
#include "http/request_parser.h"
#include "http/server.h"

namespace tidemark::http {

// Makes ids for requests without a valid X-Request-Id: 11 characters that do not repeat.
class RequestIds {
 public:
  explicit RequestIds(uint64_t start) : next_(start) {}
  std::string Next();

 private:
  uint64_t next_;
};

// The text of the Date header, made once a second.
class DateCache {
 public:
  explicit DateCache(const Clock& clock) : clock_(clock) {}
  std::string_view Now();

 private:
  const Clock& clock_;
  EpochSeconds second_ = -1;
  std::string text_;
};

// What the connections of one loop share.
struct ConnectionContext {
  const ServerLimits& limits;
  Handler& handler;
  const Clock& clock;
  Observer& observer;
  std::shared_ptr<Mailbox> mailbox;
  RequestIds ids;
  DateCache date;
  Admission* admission = nullptr;       // Null when bodies are not counted.
  BadRequests* bad_requests = nullptr;  // Null when they are not counted.
  WorkerPool* readers = nullptr;        // Null when no handler answers with a source.
};

class Connection {
 public:
  enum class Wait {
    kForHead,     // For the first head, or the rest of a head.
    kForBody,     // For the rest of a body.
    kForNext,     // Idle.
    kForHandler,  // For the handler or the source of a body: no timeout.
  };
  // The context outlives it. The bytes of its bodies count under the admission key.
  Connection(ConnectionContext* context, uint64_t id, std::string peer,
             std::string admission_key = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  uint64_t id() const { return id_; }

  // Whether it can use more bytes now, and where they must be written.
  bool wants_bytes() const;
  std::span<char> Room() { return input_.Room(); }
  void Received(size_t bytes);
  // The client sends no more.
  void PeerFinished() { finished_ = true; }

  // The handler's reply. Ignored unless it is for the current request.
  void Answer(uint64_t request, Response response);

  // A piece of the reply's body. Ignored unless it is for the current request.
  void AddPiece(uint64_t request, Piece piece);

  bool has_output() const { return !output_.empty(); }
  // Swaps the output with an empty one, whose memory is used again. For a body from a source, the
  // next piece is read while this one is sent.
  void TakeOutput(Output* into);
  // Some of the output that was taken is sent, and this is the rest of it.
  void OutputSent(const Output& rest);
  // Continues with the next pipelined request. Called after a reply, and when output was sent.
  void Resume() { Process(); }

  // True when the connection ends as soon as its output is sent.
  bool finished() const { return finished_; }

  Wait wait() const;
  // Requests so far. A timeout starts again when this number changes.
  uint64_t requests() const { return request_; }
  // The owner calls this when the timeout of the current wait has passed.
  void TimedOut();
  // Answers the request that is at the handler, and nothing after it. The received part of another
  // request is dropped, because its client may take any time to send the rest.
  void Drain();

 private:
  // The request at the handler, as far as its reply and the log need it.
  struct Exchange {
    std::optional<Method> method = {};  // Unknown when it was refused.
    std::string path = {};
    std::string id = {};
    std::chrono::nanoseconds start = {};
    bool is_http_10 = false;
    bool keep_alive = false;
    bool is_over_limit = false;
  };

  // A body that a source reads, until its last piece is in the output.
  struct Stream {
    std::shared_ptr<BodySource> source;
    uint64_t size = 0;
    uint64_t offset = 0;  // Of the next piece.
    bool reading = false;
  };

  // False when this body and those of other connections together have too many bytes.
  bool CountBody();
  // Whether the handler refuses a request whose body has not come yet. Its answer is written then.
  bool IsRefusedByHead();
  bool is_answering() const { return at_handler_ || stream_.has_value(); }
  void Process();
  void BeginExchange(const Request& request, std::string id);
  void Dispatch();
  void Run(Request request);
  void SendContinue();
  void Refuse(int status, std::string_view detail);
  // Answers a bad request with 429 when its address has sent too many.
  void LimitBadRequest(Response* response);
  // False when the bodies of replies that are not sent yet have too many bytes.
  bool CountReply(const Response& response);
  void Write(Response response);
  uint64_t WriteBody(Response response);
  size_t NextPieceBytes() const;
  void ReadPiece();
  void CutShort(std::string_view reason);
  std::string IdOf(const Request& request);

  ConnectionContext& context_;
  const uint64_t id_;
  const std::string peer_;
  const std::string admission_key_;
  InputBuffer input_;
  RequestParser parser_;
  Exchange exchange_;
  Output output_;
  std::optional<Stream> stream_;
  TakenBytes request_bytes_;
  TakenBytes reply_bytes_;
  uint64_t request_ = 0;
  bool at_handler_ = false;
  bool head_checked_ = false;
  bool continue_sent_ = false;
  bool draining_ = false;
  bool finished_ = false;
};

}  // namespace tidemark::http
