#include "http/connection.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "http/reply_writer.h"

namespace tidemark::http {

namespace {

// Replies to pipelined requests are sent together up to this many bytes.
constexpr size_t kMaxBatchBytes = 64 << 10;
// Copying a smaller body is cheaper than writing a second buffer.
constexpr size_t kMaxCopiedBodyBytes = 16 << 10;
constexpr size_t kMaxIdLength = 64;

bool IsIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool IsId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdLength && std::ranges::all_of(text, IsIdCharacter);
}

Piece ReadFrom(BodySource* source, uint64_t offset, size_t size) {
  try {
    return source->Read(offset, size);
  } catch (...) {
    return Error{ErrorCode::kInternal, "the source threw"};
  }
}

ByteBudget* BudgetOf(Admission* admission, ByteBudget& (Admission::*budget)()) {
  return admission == nullptr ? nullptr : &(admission->*budget)();
}

Response TooManyReplies() {
  Response refusal =
      Problem(503, "Too many large replies wait to be sent: read them, or try again later.");
  refusal.headers.Set("Retry-After", "1");
  return refusal;
}

}  // namespace

std::string RequestIds::Next() {
  static constexpr char kDigits[] =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  // A bijection of 64 bits (the finalizer of SplitMix64): a counter that looks random.
  uint64_t bits = next_++;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  // Six bits a character. So short a string needs no memory of its own.
  std::string text(11, '0');
  for (char& c : text) {
    c = kDigits[bits & 63];
    bits >>= 6;
  }
  return text;
}

std::string_view DateCache::Now() {
  const EpochSeconds now = clock_.NowSeconds();
  if (now != second_) {
    second_ = now;
    text_ = DateText(now);
  }
  return text_;
}

Connection::Connection(ConnectionContext* context, uint64_t id, std::string peer,
                       std::string admission_key)
    : context_(*context),
      id_(id),
      peer_(std::move(peer)),
      admission_key_(std::move(admission_key)),
      input_(std::max(context->limits.max_head_bytes, context->limits.max_pipelined_bytes)),
      parser_(context->limits),
      request_bytes_(BudgetOf(context->admission, &Admission::requests), admission_key_),
      reply_bytes_(BudgetOf(context->admission, &Admission::replies), admission_key_) {}

bool Connection::wants_bytes() const { return !finished_ && !is_answering() && output_.empty(); }

void Connection::Received(size_t bytes) {
  input_.Added(bytes);
  Process();
}

void Connection::Process() {
  // A large body, or many replies, must be sent before the next request is handled.
  while (!finished_ && !is_answering() && !input_.empty() && !output_.has_parts() &&
         output_.bytes().size() < kMaxBatchBytes) {
    input_.Consume(parser_.Feed(input_.bytes()));
    if (parser_.state() == RequestParser::State::kBody && IsRefusedByHead()) return;
    if (!CountBody())
      return Refuse(503, "The server has too many bodies to read: try again later.");
    switch (parser_.state()) {
      case RequestParser::State::kHead:
        return;
      case RequestParser::State::kBody:
        return SendContinue();
      case RequestParser::State::kComplete:
        Dispatch();
        break;
      case RequestParser::State::kRefused:
        return Refuse(parser_.refusal().status, parser_.refusal().detail);
    }
  }
  if (wait() == Wait::kForNext) input_.Shrink();
}

// Called after each piece of a body, so the bytes are counted as they arrive: a client cannot
// reserve memory by announcing a large body. Small bodies are not counted, see limits.h.
bool Connection::CountBody() {
  const size_t size = parser_.request().body.size();
  return size <= kSmallBodyBytes || request_bytes_.RaiseTo(size);
}

bool Connection::CountReply(const Response& response) {
  if (response.source || exchange_.method == Method::kHead) return true;
  const uint64_t size = BodyBytes(response);
  return size <= kSmallReplyBytes || reply_bytes_.RaiseTo(size);
}

void Connection::OutputSent(const Output& rest) {
  reply_bytes_.LowerTo(output_.PartBytes() + rest.PartBytes());
}

bool Connection::IsRefusedByHead() {
  // Asked once for each request: the body comes in many pieces.
  if (std::exchange(head_checked_, true)) return false;
  std::optional<Response> refusal;
  try {
    refusal = context_.handler.RefuseByHead(parser_.request());
  } catch (...) {
    refusal = Problem(500, "The server failed at this request.");
  }
  if (!refusal) return false;
  BeginExchange(parser_.request(), IdOf(parser_.request()));
  // What follows is the body of this request, and is not read.
  exchange_.keep_alive = false;
  Write(*std::move(refusal));
  return true;
}

void Connection::BeginExchange(const Request& request, std::string id) {
  exchange_.method = request.method;
  exchange_.path = request.path;
  exchange_.id = std::move(id);
  exchange_.start = context_.clock.Monotonic();
  exchange_.is_http_10 = parser_.is_http_10();
  exchange_.keep_alive = parser_.keep_alive();
  exchange_.is_over_limit = false;
}

void Connection::Dispatch() {
  Request request = std::move(parser_.request());
  request.peer = peer_;
  request.id = IdOf(request);
  BeginExchange(request, request.id);
  request.is_over_limit = context_.bad_requests != nullptr &&
                          context_.bad_requests->IsOverLimit(admission_key_, exchange_.start);
  parser_.StartNext();
  head_checked_ = false;
  continue_sent_ = false;
  ++request_;
  at_handler_ = true;
  Run(std::move(request));
}

void Connection::Run(Request request) {
  Reply reply = [mailbox = context_.mailbox, connection = id_,
                 number = request_](Response response) {
    mailbox->Deliver({.connection = connection, .request = number, .content = std::move(response)});
  };
  const uint64_t number = request_;
  // While the handler runs, a reply from this thread is delivered directly, without the mailbox.
  context_.mailbox->SetCurrent(this);
  try {
    context_.handler.Handle(std::move(request), std::move(reply));
  } catch (...) {
    Answer(number, Problem(500, "The server failed at this request."));
  }
  context_.mailbox->SetCurrent(nullptr);
}

void Connection::Answer(uint64_t request, Response response) {
  // Dropped: a second reply, or a reply to an earlier request of this connection.
  if (!at_handler_ || request != request_) return;
  at_handler_ = false;
  Write(std::move(response));
}

void Connection::SendContinue() {
  // A client that sends its body without waiting does not need a 100 Continue.
  if (!parser_.expects_continue() || continue_sent_ || !parser_.request().body.empty()) return;
  continue_sent_ = true;
  output_.bytes().append("HTTP/1.1 100 Continue\r\n\r\n");
}

void Connection::Refuse(int status, std::string_view detail) {
  context_.observer.CountRefusal();
  exchange_ = {.id = context_.ids.Next(), .start = context_.clock.Monotonic()};
  // A 5xx but 501 is for what the server cannot do at the moment.
  Write(status < 500 || status == 501 ? BadRequest(status, detail) : Problem(status, detail));
}

void Connection::LimitBadRequest(Response* response) {
  if (!response->is_to_bad_request || context_.bad_requests == nullptr) return;
  if (context_.bad_requests->Count(admission_key_, peer_)) return;
  *response = TooManyBadRequests();
  // The connection stays open where the end of the request is known. The next request on it may be
  // a correct one: a proxy sends the requests of many clients over one connection.
  exchange_.is_over_limit = true;
}

void Connection::Write(Response response) {
  request_bytes_.GiveBack();
  LimitBadRequest(&response);
  const bool keep_alive = exchange_.keep_alive && !draining_;
  const std::string caller = std::move(response.caller);
  if (!HasBody(response.status)) {
    response.body.clear();
    response.parts.clear();
    response.source = nullptr;
  }
  if (!CountReply(response)) {
    const std::shared_ptr<Response> instead = response.if_refused;
    response = instead ? *instead : TooManyReplies();
  }
  const std::string cause = std::move(response.cause);
  const int status = response.status;
  AppendReplyHead(response,
                  {.date = context_.date.Now(),
                   .request_id = exchange_.id,
                   .is_http_10 = exchange_.is_http_10,
                   .keep_alive = keep_alive},
                  &output_.bytes());
  const uint64_t body_bytes =
      exchange_.method == Method::kHead ? 0 : WriteBody(std::move(response));
  exchange_.keep_alive = keep_alive;
  // A connection that sends a stream ends after the last piece.
  finished_ = finished_ || (!keep_alive && !stream_);
  context_.observer.RecordAnswer({.method = exchange_.method ? ToString(*exchange_.method) : "",
                                  .path = exchange_.path,
                                  .peer = peer_,
                                  .request_id = exchange_.id,
                                  .caller = caller,
                                  .cause = cause,
                                  .status = status,
                                  .body_bytes = body_bytes,
                                  .time = context_.clock.Monotonic() - exchange_.start,
                                  .is_over_limit = exchange_.is_over_limit});
}

uint64_t Connection::WriteBody(Response response) {
  if (response.source && response.source_size > 0) {
    stream_ = {.source = std::move(response.source), .size = response.source_size};
    ReadPiece();
    return response.source_size;
  }
  const uint64_t body_bytes = BodyBytes(response);
  if (response.parts.empty()) response.parts.push_back(ShareText(std::move(response.body)));
  if (body_bytes <= kMaxCopiedBodyBytes) {
    for (const SharedText& part : response.parts) output_.bytes().append(*part);
  } else {
    output_.Add(std::move(response.parts));
  }
  return body_bytes;
}

size_t Connection::NextPieceBytes() const {
  return static_cast<size_t>(std::min<uint64_t>(kBodyPieceBytes, stream_->size - stream_->offset));
}

void Connection::ReadPiece() {
  CHECK(context_.readers != nullptr);
  stream_->reading = context_.readers->Submit([source = stream_->source, offset = stream_->offset,
                                               size = NextPieceBytes(), mailbox = context_.mailbox,
                                               connection = id_, number = request_] {
    mailbox->Deliver({.connection = connection,
                      .request = number,
                      .content = ReadFrom(source.get(), offset, size)});
  });
  if (!stream_->reading) CutShort("too many bodies wait to be read");
}

void Connection::AddPiece(uint64_t request, Piece piece) {
  if (!stream_ || request != request_) return;
  stream_->reading = false;
  if (!piece) return CutShort(piece.error().message);
  if (piece->size() != NextPieceBytes()) return CutShort("the source gave fewer bytes than it has");
  stream_->offset += piece->size();
  output_.Add({ShareText(*std::move(piece))});
  if (stream_->offset < stream_->size) return;
  stream_.reset();
  finished_ = finished_ || !exchange_.keep_alive || draining_;
}

// The client knows the length of the body, so it sees from the early end that part is missing.
void Connection::CutShort(std::string_view reason) {
  context_.observer.LogCutShort(exchange_.id, reason);
  stream_.reset();
  finished_ = true;
}

void Connection::TakeOutput(Output* into) {
  into->clear();
  std::swap(output_, *into);
  // The next piece is read while this output is sent.
  if (stream_ && !stream_->reading) ReadPiece();
}

Connection::Wait Connection::wait() const {
  if (is_answering()) return Wait::kForHandler;
  if (parser_.state() == RequestParser::State::kBody) return Wait::kForBody;
  return input_.empty() && request_ > 0 ? Wait::kForNext : Wait::kForHead;
}

void Connection::TimedOut() {
  // A client that has sent nothing of a request is not waiting for a reply.
  const bool is_within_request = !input_.empty() || parser_.state() == RequestParser::State::kBody;
  if (is_within_request) Refuse(408, "The request did not arrive in time.");
  finished_ = true;
}

void Connection::Drain() {
  draining_ = true;
  if (!is_answering()) finished_ = true;
}

std::string Connection::IdOf(const Request& request) {
  const auto given = request.headers.Find("X-Request-Id");
  return given && IsId(*given) ? std::string(*given) : context_.ids.Next();
}

}  // namespace tidemark::http
