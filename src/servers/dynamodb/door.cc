#include "servers/dynamodb/door.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/gzip.h"
#include "base/json.h"
#include "wire/exception.h"

namespace tidemark::dynamodb {

namespace {

constexpr std::string_view kService = "dynamodb";
constexpr std::string_view kJsonType = "application/json";
// A body up to this size is handled on the loop.
constexpr size_t kSmallBodyBytes = size_t{64} << 10;
// A reply from this size on is packed, for clients that accept it.
constexpr size_t kPackedReplyBytes = size_t{4} << 10;
// What all ids of requests of DynamoDB end with.
constexpr std::string_view kRequestIdEnd = "VV4KQNSO5AEMVJF66Q9ASUAAJG";
// What AWS says of errors of its own. What happened is in the log.
constexpr std::string_view kInternalText = "Internal server error";
constexpr std::string_view kUnavailableText =
    "The request has failed due to a temporary failure of the server.";
constexpr std::string_view kRequestIdCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view HeaderOf(const http::Request& request, std::string_view name) {
  return request.headers.Find(name).value_or("");
}

// "application/json; charset=utf-8" → "application/json".
std::string_view ContentTypeOf(const http::Request& request) {
  const std::string_view value = HeaderOf(request, "Content-Type");
  return Trimmed(value.substr(0, value.find(';')));
}

bool IsPacked(const http::Request& request) {
  return http::EqualIgnoringCase(Trimmed(HeaderOf(request, "Content-Encoding")), "gzip");
}

// Whether "gzip, deflate;q=0.5" lists gzip, and not with the weight 0.
bool AcceptsGzip(const http::Request& request) {
  std::string_view rest = HeaderOf(request, "Accept-Encoding");
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (!http::EqualIgnoringCase(Trimmed(one.substr(0, one.find(';'))), "gzip")) continue;
    const size_t weight = one.find("q=");
    return weight == std::string_view::npos ||
           one.substr(weight + 2).find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

// "localhost:8000" → "localhost", "[::1]:8000" → "::1".
std::string HostNameOf(std::string_view host) {
  std::string_view name = host.substr(0, host.rfind(':'));
  if (host.starts_with('[')) {
    name = host.substr(1, host.find(']') - 1);
  } else if (std::ranges::count(host, ':') > 1) {
    name = host;
  }
  std::string lower;
  std::ranges::transform(name, std::back_inserter(lower), Lower);
  return lower;
}

bool IsLoopbackName(std::string_view name) {
  const bool is_v4 =
      name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_v4 || name == "::1" || name == "localhost" || name.ends_with(".localhost");
}

// The reply to what is no request of the protocol at all.
http::Response NoOperation() {
  http::Response response{.status = 404};
  response.body = "<UnknownOperationException/>\n";
  return response;
}

// The reply for an error. The text of one of ours may have paths and more that is not for callers.
wire::Message EncodeWithoutCause(const Error& error) {
  const wire::Message whole = wire::EncodeError(error);
  if (whole.status < 500) return whole;
  return wire::EncodeError(
      {error.code, std::string(whole.status == 503 ? kUnavailableText : kInternalText)});
}

// The error in a reply.
Error ErrorIn(const wire::Message& message) {
  const auto body = JsonDocument::Parse(message.body);
  if (!body) return {ErrorCode::kInternal, message.body};
  return wire::DecodeError(message.status, body->root());
}

wire::Message Encode(const aws::Refusal& refusal) {
  return wire::EncodeServiceException(refusal.exception, refusal.message);
}

// An SDK that looks for an endpoint is told to stay where it is.
constexpr wire::CallRow kDescribeEndpoints = {.name = "DescribeEndpoints"};

wire::Message Endpoints(std::string_view host) {
  wire::Message message;
  JsonWriter writer(&message.body);
  writer.BeginObject();
  writer.Key("Endpoints");
  writer.BeginArray();
  writer.BeginObject();
  writer.Key("Address");
  writer.String(host);
  writer.Key("CachePeriodInMinutes");
  writer.Int(1'440);
  writer.EndObject();
  writer.EndArray();
  writer.EndObject();
  return message;
}

const wire::CallRow* FindRow(std::string_view target) {
  if (target == "DynamoDB_20120810.DescribeEndpoints") return &kDescribeEndpoints;
  const size_t point = target.find('.');
  if (point == std::string_view::npos) return nullptr;
  const wire::CallRow* row = wire::FindCall(target.substr(point + 1));
  if (row == nullptr || target.substr(0, point) != wire::ToString(row->service)) return nullptr;
  return row;
}

}  // namespace

// A request on its way through the door.
struct Door::Visit {
  http::Request request;
  bool is_large = false;  // Its body is large or packed.
  const wire::CallRow* row = nullptr;
  std::optional<JsonDocument> body = std::nullopt;  // nullopt: the request has no body.
  Rights rights = {};
  std::string caller = {};  // The name of the access key.
  std::vector<std::string> tables = {};
  bool defines_tables = false;
  bool writes = false;
  std::string denial = {};   // Why the caller may not do this; empty: it may.
  std::string failure = {};  // Of the tables or of this program. The caller is not told.
  std::optional<Places::Place> place = std::nullopt;
};

// Counts a request until it is answered: the steps of an answer use the door.
class Door::Unanswered {
 public:
  explicit Unanswered(Door* door) : door_(door) {
    const std::lock_guard lock(door_->mutex_);
    ++door_->unanswered_;
  }
  ~Unanswered() {
    if (door_ == nullptr) return;
    const std::lock_guard lock(door_->mutex_);
    // Notified under the lock: once it is released, the door may be destroyed.
    if (--door_->unanswered_ == 0) door_->all_answered_.notify_all();
  }
  Unanswered(Unanswered&& other) noexcept : door_(std::exchange(other.door_, nullptr)) {}
  Unanswered& operator=(Unanswered&&) = delete;

 private:
  Door* door_;
};

Door::Door(DoorOptions options, tables::Tables* tables, AccessKeys* keys, WorkerPool* workers,
           const Runtime& runtime)
    : options_(std::move(options)),
      tables_(*tables),
      keys_(keys),
      workers_(*workers),
      runtime_(runtime),
      large_places_(options_.large_bodies) {
  CHECK(options_.open == (keys_ == nullptr));
}

Door::~Door() {
  std::unique_lock lock(mutex_);
  all_answered_.wait(lock, [&] { return unanswered_ == 0; });
}

void Door::Handle(http::Request request, http::Reply reply) {
  auto visit = std::make_shared<Visit>();
  visit->is_large = request.body.size() > kSmallBodyBytes || IsPacked(request);
  visit->row = FindRow(HeaderOf(request, "X-Amz-Target"));
  visit->request = std::move(request);
  Answer(visit).Then([this, visit, reply = std::move(reply),
                      unanswered = Unanswered(this)](Result<http::Response> result) {
    http::Response response = Finish(visit.get(), std::move(result));
    visit->place.reset();
    reply(std::move(response));
  });
}

Later<http::Response> Door::Answer(const VisitPtr& visit) {
  const http::Request& request = visit->request;
  if (options_.open && !IsAllowedHost(request)) {
    visit->denial = "the Host is not a name of this server";
    return ToResponse(*visit, wire::EncodeServiceException(
                                  "AccessDeniedException",
                                  fmt::format("the Host '{}' is not a name of this server: use "
                                              "localhost, or add the name to the setting "
                                              "dynamodb.hosts",
                                              HeaderOf(request, "Host"))));
  }
  switch (request.method) {
    case http::Method::kPost:
      return AnswerPost(visit);
    case http::Method::kGet: {
      http::Response healthy{.status = 200};
      healthy.body = fmt::format("healthy: dynamodb.{}.amazonaws.com ", options_.region);
      return healthy;
    }
    case http::Method::kOptions:
      if (!options_.cors.empty() && request.headers.Find("Origin")) return Preflight(request);
      return NoOperation();
    default:
      return NoOperation();
  }
}

Later<http::Response> Door::AnswerPost(const VisitPtr& visit) {
  const std::string_view type = ContentTypeOf(visit->request);
  const bool has_json_type = type == wire::kContentType || type == kJsonType;
  if (!visit->request.body.empty() && !has_json_type) return NoOperation();
  // Reading a large body takes much memory, so a stranger's is not read.
  return visit->is_large ? Authenticate(visit) : Read(visit);
}

Later<http::Response> Door::Read(const VisitPtr& visit) {
  const http::Request& request = visit->request;
  if (!request.body.empty()) {
    Result<JsonDocument> parsed = Invalid("");
    if (IsPacked(request)) {
      const auto unpacked = Gunzip(request.body, kMaxBodyBytes);
      if (!unpacked && unpacked.error().code == ErrorCode::kThrottled) {
        return http::Response{.status = 413};
      }
      if (unpacked) parsed = JsonDocument::Parse(*unpacked);
    } else {
      parsed = JsonDocument::Parse(request.body);
    }
    if (!parsed || !parsed->root().IsObject()) {
      return ToResponse(*visit, wire::EncodeServiceException("SerializationException"));
    }
    visit->body.emplace(*std::move(parsed));
  }
  if (visit->row == nullptr) {
    return ToResponse(*visit, wire::EncodeServiceException("UnknownOperationException"));
  }
  return visit->is_large ? Call(visit) : Authenticate(visit);
}

// Continues a visit whose caller is known.
Later<http::Response> Door::Admit(const VisitPtr& visit) {
  if (!visit->is_large) return Call(visit);
  const size_t most = IsPacked(visit->request) ? kMaxBodyBytes : visit->request.body.size();
  return large_places_.Take(most).Then(
      [this, visit](Result<Places::Place> place) -> Later<http::Response> {
        if (!place) return std::move(place).error();
        visit->place.emplace(*std::move(place));
        return workers_.Run([this, visit] { return Read(visit); });
      });
}

Later<http::Response> Door::Authenticate(const VisitPtr& visit) {
  const auto read = aws::ReadClaim(visit->request);
  if (const auto* refusal = std::get_if<aws::Refusal>(&read)) return Refuse(*visit, *refusal);
  if (keys_ != nullptr) return AuthenticateWithKey(visit, std::get<aws::Claim>(read));
  return Admit(visit);
}

Later<http::Response> Door::AuthenticateWithKey(const VisitPtr& visit, const aws::Claim& claim) {
  auto checked = aws::CheckClaim(claim, kService, runtime_.clock.NowSeconds());
  if (const auto* refusal = std::get_if<aws::Refusal>(&checked)) return Refuse(*visit, *refusal);
  const auto& who = std::get<aws::Checked>(checked);
  return keys_->Find(who.access_key)
      .Then([this, visit, claim,
             scope = who.scope](Result<AccessKeyPtr> found) -> Later<http::Response> {
        if (!found) return std::move(found).error();
        auto check = [this, visit, claim, scope, key = *std::move(found)] {
          return CheckSignature(visit, claim, scope, key);
        };
        // This may be a thread of the tables, which others need. The hash of a large body takes
        // long.
        return visit->is_large ? workers_.Run(std::move(check)) : check();
      });
}

Later<http::Response> Door::CheckSignature(const VisitPtr& visit, const aws::Claim& claim,
                                           const aws::Scope& scope, const AccessKeyPtr& key) {
  if (key == nullptr) return Refuse(*visit, aws::UnknownClient());
  const auto refusal = aws::CheckSignature(claim, scope, visit->request, key->SigningKeyFor(scope));
  if (refusal) return Refuse(*visit, *refusal);
  visit->rights = key->entry().rights;
  visit->caller = key->entry().name;
  return Admit(visit);
}

http::Response Door::Refuse(const Visit& visit, const aws::Refusal& refusal) const {
  http::Response response = ToResponse(visit, Encode(refusal));
  response.is_to_bad_request = keys_ != nullptr;
  return response;
}

Later<http::Response> Door::Call(const VisitPtr& visit) {
  if (!visit->body) {
    return ToResponse(*visit, wire::EncodeServiceException("SerializationException"));
  }
  if (visit->row == &kDescribeEndpoints) {
    return ToResponse(*visit, Endpoints(HeaderOf(visit->request, "Host")));
  }
  const wire::Layer layer = options_.older_wording ? wire::Layer::kOlder : visit->row->layer;
  auto call = visit->row->decode(visit->body->root(), layer);
  if (!call) return ToResponse(*visit, wire::EncodeError(call.error()));
  // The call keeps nothing of them.
  visit->body.reset();
  visit->request.body = std::string();
  visit->tables = call->tables;
  visit->writes = !call->changed_tables.empty();
  visit->defines_tables = DefinesTables(visit->row->name, *call);
  if (const auto denial = FindDenial(visit->rights, options_.own_tables, visit->row->name, *call)) {
    visit->denial = denial->reason;
    const std::string text = fmt::format(
        "User: arn:aws:iam::000000000000:user/{} is not authorized to perform: dynamodb:{} on "
        "resource: arn:aws:dynamodb:{}:000000000000:table/{} because {}",
        visit->caller.empty() ? "anybody" : visit->caller, visit->row->name, options_.region,
        denial->table, denial->reason);
    return ToResponse(*visit, wire::EncodeServiceException("AccessDeniedException", text));
  }
  const Deadline deadline = Deadline::After(runtime_.clock, options_.request_limit);
  auto make = [this, deadline, make = std::move(call->make)] { return make(tables_, deadline); };
  Later<wire::Message> message = visit->row->blocks ? workers_.Run(std::move(make)) : make();
  return std::move(message).Then(
      [this, visit](Result<wire::Message> answer) -> Result<http::Response> {
        if (!answer) return std::move(answer).error();
        if (answer->status >= 500) return ErrorIn(*answer);
        return ToResponse(*visit, *std::move(answer));
      });
}

http::Response Door::Preflight(const http::Request& request) const {
  http::Response response{.status = 200};
  const std::string_view headers = HeaderOf(request, "Access-Control-Request-Headers");
  const std::string_view method = HeaderOf(request, "Access-Control-Request-Method");
  if (!headers.empty()) {
    response.headers.Add("Access-Control-Allow-Headers", std::string(headers));
  }
  if (!method.empty()) response.headers.Add("Access-Control-Allow-Methods", std::string(method));
  response.headers.Add("Access-Control-Max-Age", "172800");
  return response;
}

http::Response Door::ToResponse(const Visit& visit, wire::Message message) const {
  http::Response response{.status = message.status};
  const bool is_aws_json = ContentTypeOf(visit.request) == wire::kContentType;
  response.headers.Add("Content-Type", std::string(is_aws_json ? wire::kContentType : kJsonType));
  response.body = std::move(message.body);
  if (response.body.size() >= kPackedReplyBytes && AcceptsGzip(visit.request)) {
    response.body = Gzip(response.body);
    response.headers.Add("Content-Encoding", "gzip");
  }
  response.caller = visit.caller;
  return response;
}

http::Response Door::Finish(Visit* visit, Result<http::Response> result) const {
  if (!result) visit->failure = result.error().message;
  http::Response response =
      result ? *std::move(result) : ToResponse(*visit, EncodeWithoutCause(result.error()));
  const std::string id = NewRequestId();
  Record(*visit, response.status, id);
  AddHeaders(*visit, id, &response);
  if (response.body.size() > http::kSmallReplyBytes) {
    // A write is done by now, so nobody may be told that it was refused.
    const ErrorCode code = visit->writes ? ErrorCode::kUnknown : ErrorCode::kUnavailable;
    auto refusal = std::make_shared<http::Response>(
        ToResponse(*visit, EncodeWithoutCause({code, "too many large replies wait"})));
    refusal->cause = "too many large replies wait to be sent";
    AddHeaders(*visit, NewRequestId(), refusal.get());
    response.if_refused = std::move(refusal);
  }
  return response;
}

void Door::AddHeaders(const Visit& visit, const std::string& id, http::Response* response) const {
  response->headers.Add("x-amzn-RequestId", id);
  response->headers.Add("x-amz-crc32", std::to_string(Crc32(response->body)));
  AddCors(visit.request, &response->headers);
}

void Door::Record(const Visit& visit, int status, std::string_view sent_id) const {
  const auto log = [&](LogLevel level, std::string_view what, std::string_view cause) {
    runtime_.logger.Log(level, what,
                        {{"operation", visit.row == nullptr ? "" : visit.row->name},
                         {"tables", fmt::format("{}", fmt::join(visit.tables, ","))},
                         {"key", visit.caller},
                         {"status", status},
                         {"cause", cause},
                         {"aws_request_id", sent_id},
                         {"request_id", visit.request.id}});
  };
  if (status >= 500) {
    log(status == 503 ? LogLevel::kWarning : LogLevel::kError,
        "a request of DynamoDB's protocol failed", visit.failure);
  } else if (!visit.denial.empty()) {
    log(LogLevel::kWarning, "a request of DynamoDB's protocol was denied", visit.denial);
  } else if (visit.defines_tables && status == 200) {
    log(LogLevel::kAudit, "a request of DynamoDB's protocol changed a table's definition", "");
  }
}

bool Door::IsAllowedHost(const http::Request& request) const {
  const std::string name = HostNameOf(HeaderOf(request, "Host"));
  return IsLoopbackName(name) || std::ranges::find(options_.hosts, name) != options_.hosts.end();
}

void Door::AddCors(const http::Request& request, http::Headers* headers) const {
  const auto origin = request.headers.Find("Origin");
  if (options_.cors.empty() || !origin) return;
  const bool is_for_all = options_.cors.front() == "*";
  const bool is_listed = std::ranges::find(options_.cors, *origin) != options_.cors.end();
  if (!is_for_all && !is_listed) return;
  headers->Add("Access-Control-Allow-Origin", is_for_all ? "*" : std::string(*origin));
  headers->Add("Access-Control-Expose-Headers",
               "x-amzn-RequestId,x-amzn-ErrorType,x-amz-request-id,x-amz-id-2,"
               "x-amzn-ErrorMessage,Date");
  if (!is_for_all) headers->Add("Vary", "Origin");
}

std::string Door::NewRequestId() const {
  std::string id;
  id.reserve(52);
  for (int words = 0; words < 3; ++words) {
    uint64_t bits = runtime_.random.Next();
    for (int i = 0; i < 12 && id.size() < 26; ++i, bits >>= 5) {
      id.push_back(kRequestIdCharacters[bits & 31]);
    }
  }
  return id.append(kRequestIdEnd);
}

}  // namespace tidemark::dynamodb
