#include "servers/api/attempts/routes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/json_body.h"
#include "http/url.h"
#include "servers/api/attempts/json.h"
#include "servers/api/json_object.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using attempts::AccountState;
using attempts::EmailFraud;
using attempts::LockKind;
using attempts::Name;
using attempts::Subject;
using http::RoutedRequest;
using Answer = Result<std::string>;

constexpr std::string_view kSubjects = "/api/v1/subjects/";
constexpr std::string_view kSubjectsSegment = "subjects";
constexpr std::string_view kId = "{id}";
// The words of the routes below a subject. A log shows kHidden in place of everything else.
constexpr std::array<std::string_view, 14> kWords = {
    "attempts", "reserve", "settle",  "spend",  "decide",      "counts",   "increment",
    "sum",      "locks",   "ceiling", "states", "email-fraud", "journeys", "clear"};
constexpr std::string_view kHidden = "{hidden}";
constexpr std::string_view kIdentify = "identify";

template <typename Things>
void WriteAll(std::string_view name, const Things& things, JsonWriter* writer) {
  writer->Key(name);
  writer->BeginArray();
  for (const auto& thing : things) Write(thing, writer);
  writer->EndArray();
}

std::string NumberOf(std::string_view name, uint64_t number) {
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key(name);
    writer->Int(static_cast<int64_t>(number));
  });
}

std::string Nothing() { return "{}"; }

const std::string& Part(const RoutedRequest& routed, std::string_view name) {
  return routed.parameters.find(name)->second;
}

// The name in the path and its query. The query may only have the `known` parameters.
Result<Name> NameIn(const RoutedRequest& routed, std::initializer_list<std::string_view> known) {
  Name name{
      .journey = Part(routed, "journey"), .count = {}, .classifier = Part(routed, "classifier")};
  const auto count = routed.parameters.find("count_type");
  if (count != routed.parameters.end()) name.count = count->second;
  for (auto& [key, value] : TRY(http::ParseQuery(routed.request.query))) {
    if (std::ranges::find(known, key) == known.end()) {
      return Invalid(
          fmt::format("there is no parameter '{}'; there are: {}", key, fmt::join(known, ", ")));
    }
    (key == "lane" ? name.lane : name.method) = value;
  }
  return name;
}

// The value with this name. The error lists all names.
template <typename Value, size_t kSize>
Result<Value> ParseOneOf(std::string_view field, const std::string& text,
                         const std::array<Value, kSize>& values) {
  std::string names;
  for (const Value value : values) {
    if (ToString(value) == text) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", ToString(value));
  }
  return Invalid(fmt::format("'{}' should be one of {}", field, names));
}

constexpr std::array kKinds = {LockKind::kStandard, LockKind::kReduced, LockKind::kPermanent};
constexpr std::array kFrauds = {EmailFraud::kPending, EmailFraud::kAllow, EmailFraud::kDeny};

class AttemptsRoutes {
 public:
  AttemptsRoutes(const AttemptsRoutesParts& parts, WorkerPool* workers)
      : attempts_(*parts.attempts),
        email_key_(*parts.email_key),
        previous_email_key_(*parts.previous_email_key),
        workers_(*workers) {}

  Answer Identify(const RoutedRequest& routed) const;
  Answer Show(const RoutedRequest& routed) const;

  // Everybody who signs in needs these, so they keep no thread waiting for the disk, and begin on
  // the loop when the store allows it.
  Later<http::Response> Reserve(const RoutedRequest& routed) const;
  Later<http::Response> Settle(const RoutedRequest& routed) const;
  Later<http::Response> Decide(const RoutedRequest& routed) const;
  Answer Spend(const RoutedRequest& routed) const;

  Answer Increment(const RoutedRequest& routed) const;
  Answer Counts(const RoutedRequest& routed) const;
  Answer Count(const RoutedRequest& routed) const;
  Answer Sum(const RoutedRequest& routed) const;
  Answer Reset(const RoutedRequest& routed) const;
  Answer ResetAll(const RoutedRequest& routed) const;

  Answer Locks(const RoutedRequest& routed) const;
  Answer SetLock(const RoutedRequest& routed) const;
  Answer Unlock(const RoutedRequest& routed) const;
  Answer LiftCeiling(const RoutedRequest& routed) const;

  Answer States(const RoutedRequest& routed) const;
  Answer SetState(const RoutedRequest& routed) const;
  Answer ClearState(const RoutedRequest& routed) const;
  Answer GetFraud(const RoutedRequest& routed) const;
  Answer SetFraud(const RoutedRequest& routed) const;

  Answer DecideJourney(const RoutedRequest& routed) const;
  Answer ClearJourney(const RoutedRequest& routed) const;

 private:
  attempts::Attempts& attempts_;
  const Secret& email_key_;
  const Secret& previous_email_key_;
  WorkerPool& workers_;
};

Answer AttemptsRoutes::Identify(const RoutedRequest& routed) const {
  const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {"email"}));
  const std::string email = TRY(body.Text("email"));
  const Subject subject = TRY(Subject::OfEmail(email, email_key_));
  // Here and not when the id is used: only this request has the address, and an id cannot be turned
  // into the id of another key. A page asks here before each attempt, so what a server with the
  // previous key has counted meanwhile is taken over too.
  if (!previous_email_key_.empty()) {
    const Subject previous = TRY(Subject::OfEmail(email, previous_email_key_));
    TRY(attempts_.TakeOver(previous, subject, AuthorOf(routed)));
  }
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("id");
    writer->String(subject.text());
  });
}

// ---- Attempts ----

template <typename Reply>
http::Response Respond(const Result<Reply>& reply) {
  return reply ? http::Json(200, ToJson(*reply)) : ToProblem(reply.error());
}

Later<http::Response> AttemptsRoutes::Reserve(const RoutedRequest& routed) const {
  auto request = ParseReserve(routed, email_key_);
  if (!request) return ToProblem(request.error());
  return attempts_.Reserve(*std::move(request), &workers_).Then(Respond<attempts::Decision>);
}

// A settle that fails may be half done: settled at the subject, but not yet at its source or under
// the person's other ids. The error tells the page to let nobody in, and to send the same request
// again, which does the rest.
Later<http::Response> AttemptsRoutes::Settle(const RoutedRequest& routed) const {
  auto request = ParseSettle(routed);
  if (!request) return ToProblem(request.error());
  return attempts_.Settle(*std::move(request), &workers_).Then(Respond<attempts::SettleReply>);
}

Answer AttemptsRoutes::Spend(const RoutedRequest& routed) const {
  const attempts::ReserveRequest request = TRY(ParseSpend(routed));
  return ToJson(TRY(attempts_.Spend(request)));
}

Later<http::Response> AttemptsRoutes::Decide(const RoutedRequest& routed) const {
  auto request = ParseReserve(routed, email_key_);
  if (!request) return ToProblem(request.error());
  // These read several accounts, and block meanwhile.
  if (request->source || !request->also.empty()) {
    return workers_.Run([&attempts = attempts_, request = *std::move(request)] {
      return Respond(attempts.Decide(request));
    });
  }
  return attempts_.SubmitDecide(*std::move(request)).Then(Respond<attempts::Decision>);
}

// ---- Counts ----

Answer AttemptsRoutes::Increment(const RoutedRequest& routed) const {
  const attempts::IncrementRequest request = TRY(ParseIncrement(routed));
  return NumberOf("count", TRY(attempts_.Increment(request)));
}

Answer AttemptsRoutes::Counts(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const auto counts = TRY(attempts_.GetAll(subject));
  return ObjectOf([&](JsonWriter* writer) { WriteAll("counts", counts, writer); });
}

Answer AttemptsRoutes::Count(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const Name name = TRY(NameIn(routed, {"method", "lane"}));
  return NumberOf("count", TRY(attempts_.Get(subject, name)));
}

Answer AttemptsRoutes::Sum(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const Name name = TRY(NameIn(routed, {"lane"}));
  return NumberOf("sum", TRY(attempts_.Sum(subject, name)));
}

Answer AttemptsRoutes::Reset(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const Name name = TRY(NameIn(routed, {"method", "lane"}));
  const attempts::Author by = TRY(ParseAuthor(routed));
  TRY(attempts_.Reset(subject, name, by));
  return Nothing();
}

Answer AttemptsRoutes::ResetAll(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const attempts::Author by = TRY(ParseAuthor(routed));
  TRY(attempts_.ResetAll(subject, by));
  return Nothing();
}

// ---- Locks ----

Answer AttemptsRoutes::Locks(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const auto locks = TRY(attempts_.Locks(subject));
  return ObjectOf([&](JsonWriter* writer) { WriteAll("locks", locks, writer); });
}

Answer AttemptsRoutes::SetLock(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const JsonBody body =
      TRY(JsonBody::Parse(routed.request.body, {"journey", "classifier", "method", "lane", "kind",
                                                "reason", "seconds"}));
  attempts::Lock lock{.name = {}};
  lock.name.journey = TRY(body.Text("journey"));
  lock.name.classifier = TRY(body.TextOr("classifier", attempts::kGeneral));
  lock.name.method = TRY(body.TextOr("method", ""));
  lock.name.lane = TRY(body.TextOr("lane", ""));
  lock.reason = TRY(body.TextOr("reason", ""));
  const std::string kind = TRY(body.TextOr("kind", ToString(LockKind::kStandard)));
  lock.kind = TRY(ParseOneOf("kind", kind, kKinds));
  // Ignored for a permanent lock, which has no length.
  const auto usual = attempts_.policy().LockLength(lock.kind);
  const std::chrono::seconds length(TRY(body.IntegerOr("seconds", usual.count())));
  const attempts::Lock holds = TRY(attempts_.SetLock(subject, lock, length, AuthorOf(routed)));
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("lock");
    Write(holds, writer);
  });
}

Answer AttemptsRoutes::Unlock(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const Name name = TRY(NameIn(routed, {"method", "lane"}));
  const attempts::Author by = TRY(ParseAuthor(routed));
  TRY(attempts_.Unlock(subject, name, by));
  return Nothing();
}

Answer AttemptsRoutes::LiftCeiling(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const attempts::Author by = TRY(ParseAuthor(routed));
  TRY(attempts_.LiftCeiling(subject, by));
  return Nothing();
}

// ---- States ----

Answer AttemptsRoutes::States(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const auto states = TRY(attempts_.States(subject));
  return ObjectOf([&](JsonWriter* writer) { WriteAll("states", states, writer); });
}

Answer AttemptsRoutes::SetState(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {"state", "reason"}));
  const std::string text = TRY(body.Text("state"));
  const AccountState state = TRY(ParseOneOf("state", text, attempts::kAccountStates));
  const std::string reason = TRY(body.TextOr("reason", ""));
  TRY(attempts_.SetState(subject, state, reason, AuthorOf(routed)));
  return Nothing();
}

Answer AttemptsRoutes::ClearState(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const AccountState state =
      TRY(ParseOneOf("state", Part(routed, "state"), attempts::kAccountStates));
  const attempts::Author by = TRY(ParseAuthor(routed));
  TRY(attempts_.ClearState(subject, state, by));
  return Nothing();
}

Answer AttemptsRoutes::GetFraud(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const EmailFraud state = TRY(attempts_.GetEmailFraud(subject));
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("state");
    writer->String(ToString(state));
  });
}

Answer AttemptsRoutes::SetFraud(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const JsonBody body =
      TRY(JsonBody::Parse(routed.request.body, {"state", "life_seconds", "reason"}));
  const std::string text = TRY(body.Text("state"));
  const EmailFraud state = TRY(ParseOneOf("state", text, kFrauds));
  std::optional<std::chrono::seconds> life;
  if (body.Has("life_seconds")) life = std::chrono::seconds(TRY(body.Integer("life_seconds")));
  const attempts::Author by = AuthorOf(routed, TRY(body.TextOr("reason", "")));
  TRY(attempts_.SetEmailFraud(subject, state, life, by));
  return Nothing();
}

// ---- Journeys, and all at once ----

// The subject of the path, and the other subjects of the same person that the body names.
Result<std::vector<Subject>> PersonIn(const RoutedRequest& routed) {
  std::vector<Subject> subjects = {TRY(SubjectIn(routed))};
  if (routed.request.body.empty()) return subjects;
  const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {"also"}));
  const std::vector<Subject> others = TRY(ParseOtherIds(body));
  subjects.insert(subjects.end(), others.begin(), others.end());
  return subjects;
}

Answer AttemptsRoutes::DecideJourney(const RoutedRequest& routed) const {
  const std::vector<Subject> person = TRY(PersonIn(routed));
  return ToJson(TRY(attempts_.DecideJourney(person, Part(routed, "journey"))));
}

Answer AttemptsRoutes::ClearJourney(const RoutedRequest& routed) const {
  const std::vector<Subject> person = TRY(PersonIn(routed));
  TRY(attempts_.ClearJourney(person, Part(routed, "journey"), AuthorOf(routed)));
  return Nothing();
}

Answer AttemptsRoutes::Show(const RoutedRequest& routed) const {
  const Subject subject = TRY(SubjectIn(routed));
  const attempts::Standing standing = TRY(attempts_.GetStanding(subject));
  std::vector<AccountState> states;
  for (const attempts::StandingState& one : standing.states) states.push_back(one.state);
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("id");
    writer->String(subject.text());
    WriteAll("counts", standing.counts, writer);
    WriteAll("locks", standing.locks, writer);
    WriteAll("states", states, writer);
    // By this id alone. With the failures of another id of the same person there may be more.
    writer->Key("indefinitely_locked");
    writer->BeginArray();
    for (const std::string& classifier : standing.at_ceiling) writer->String(classifier);
    writer->EndArray();
    writer->Key("email_fraud");
    writer->String(ToString(standing.email_fraud));
    WriteAll("state_details", standing.states, writer);
    WriteAll("devices", standing.devices, writer);
    WriteAll("failures_in_a_row", standing.failures, writer);
    writer->Key("ceiling");
    writer->Int(attempts_.policy().ceiling());
  });
}

// "/subjects//counts" has an empty id. That is a mistake of the caller (400) and not an unknown
// path (404), which a page might take for "no such person".
void RefuseEmptyId(const http::Route& route, TokenFile* tokens, http::Router* router) {
  const std::string with_id = fmt::format("{}{}/", kSubjects, kId);
  if (!route.pattern.starts_with(with_id)) return;
  auto answer = AnswerJson([](const RoutedRequest&) -> Answer {
    return Invalid(
        "the id of the subject is empty: the path has nothing between /subjects/ and the next "
        "slash");
  });
  if (tokens != nullptr) answer = WithToken(tokens, std::move(answer));
  router->Add({.method = route.method,
               .pattern = fmt::format("{}/{}", kSubjects, route.pattern.substr(with_id.size())),
               .handler = std::move(answer)});
}

}  // namespace

void AddAttemptsRoutes(http::Router* router, const AttemptsRoutesParts& parts, TokenFile* tokens) {
  using http::Method;
  using Handler = Answer (AttemptsRoutes::*)(const RoutedRequest&) const;
  const auto routes = std::make_shared<const AttemptsRoutes>(parts, &router->workers());
  const auto add_route = [&](http::Route route) {
    RefuseEmptyId(route, tokens, router);
    router->Add(std::move(route));
  };
  // The token is checked before the handler runs, so nobody without one learns from an answer which
  // names the policy has.
  const auto guarded = [&](http::RouteHandler answer) {
    return tokens == nullptr ? answer : WithToken(tokens, std::move(answer));
  };
  const auto answer_of = [&](Handler handler) {
    return guarded(AnswerJson(
        [routes, handler](const RoutedRequest& routed) { return (*routes.*handler)(routed); }));
  };
  const auto add = [&](Method method, std::string pattern, Handler handler) {
    add_route({.method = method, .pattern = std::move(pattern), .handler = answer_of(handler)});
  };
  using LaterHandler = Later<http::Response> (AttemptsRoutes::*)(const RoutedRequest&) const;
  const http::Run run =
      parts.attempts->BeginsWithoutBlocking() ? http::Run::kOnLoop : http::Run::kOnWorker;
  const auto add_later = [&](std::string pattern, LaterHandler handler) {
    add_route({.method = Method::kPost,
               .pattern = std::move(pattern),
               .run = run,
               .handler = guarded([routes, handler](const RoutedRequest& routed) {
                 return (*routes.*handler)(routed);
               })});
  };
  const std::string subject = fmt::format("{}{}", kSubjects, kId);
  const std::string count = subject + "/counts/{journey}/{count_type}/{classifier}";
  add(Method::kPost, std::string(kSubjects) + std::string(kIdentify), &AttemptsRoutes::Identify);
  add(Method::kGet, subject, &AttemptsRoutes::Show);
  add_later(subject + "/attempts/reserve", &AttemptsRoutes::Reserve);
  add_later(subject + "/attempts/settle", &AttemptsRoutes::Settle);
  add(Method::kPost, subject + "/attempts/spend", &AttemptsRoutes::Spend);
  add_later(subject + "/attempts/decide", &AttemptsRoutes::Decide);
  add(Method::kPost, subject + "/counts/increment", &AttemptsRoutes::Increment);
  add(Method::kGet, subject + "/counts", &AttemptsRoutes::Counts);
  add(Method::kDelete, subject + "/counts", &AttemptsRoutes::ResetAll);
  add(Method::kGet, count, &AttemptsRoutes::Count);
  add(Method::kDelete, count, &AttemptsRoutes::Reset);
  add(Method::kGet, count + "/sum", &AttemptsRoutes::Sum);
  add(Method::kGet, subject + "/locks", &AttemptsRoutes::Locks);
  add(Method::kPost, subject + "/locks", &AttemptsRoutes::SetLock);
  add(Method::kDelete, subject + "/locks/{journey}/{classifier}", &AttemptsRoutes::Unlock);
  add(Method::kDelete, subject + "/ceiling", &AttemptsRoutes::LiftCeiling);
  add(Method::kGet, subject + "/states", &AttemptsRoutes::States);
  add(Method::kPost, subject + "/states", &AttemptsRoutes::SetState);
  add(Method::kDelete, subject + "/states/{state}", &AttemptsRoutes::ClearState);
  add(Method::kGet, subject + "/email-fraud", &AttemptsRoutes::GetFraud);
  add(Method::kPost, subject + "/email-fraud", &AttemptsRoutes::SetFraud);
  add(Method::kPost, subject + "/journeys/{journey}/decide", &AttemptsRoutes::DecideJourney);
  add(Method::kPost, subject + "/journeys/{journey}/clear", &AttemptsRoutes::ClearJourney);
}

namespace {

// An invalid encoding stays as it is: a broken path is logged too, and must not show an id.
std::string DecodeLeniently(std::string_view path) {
  constexpr size_t kEncodedBytes = 3;
  std::string decoded;
  for (size_t at = 0; at < path.size();) {
    const bool is_encoded = path[at] == '%';
    const auto byte = http::PercentDecode(path.substr(at, is_encoded ? kEncodedBytes : 1));
    decoded += byte ? *byte : "%";
    at += is_encoded && byte ? kEncodedBytes : 1;
  }
  return decoded;
}

// The decoded segments of a path, without empty ones.
std::vector<std::string> SegmentsOf(std::string_view path) {
  const std::string decoded = DecodeLeniently(path);
  std::vector<std::string> segments;
  for (size_t at = 0; at < decoded.size();) {
    const size_t end = std::min(decoded.find('/', at), decoded.size());
    if (end > at) segments.push_back(decoded.substr(at, end - at));
    at = end + 1;
  }
  return segments;
}

bool IsSubjects(const std::string& segment) {
  return std::ranges::equal(segment, kSubjectsSegment, {},
                            [](unsigned char c) { return std::tolower(c); });
}

}  // namespace

std::string PathWithoutSubject(std::string_view path) {
  const std::vector<std::string> segments = SegmentsOf(path);
  auto at = std::ranges::find_if(segments, IsSubjects);
  if (at == segments.end()) return std::string(path);
  std::string shown;
  for (auto before = segments.begin(); before != at; ++before) shown += "/" + *before;
  shown += fmt::format("/{}", kSubjectsSegment);
  if (++at == segments.end()) return shown;
  const bool is_identify = *at == kIdentify && at + 1 == segments.end();
  shown += is_identify ? fmt::format("/{}", kIdentify) : "/" + std::string(kId);
  for (++at; at != segments.end(); ++at) {
    const bool is_known = std::ranges::find(kWords, *at) != kWords.end();
    shown += "/" + (is_known ? *at : std::string(kHidden));
  }
  return shown;
}

}  // namespace tidemark::api
