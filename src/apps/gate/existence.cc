#include "apps/gate/existence.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "apps/gate/cache_rows.h"
#include "apps/gate/limits.h"
#include "apps/gate/metrics.h"
#include "apps/gate/question.h"
#include "apps/gate/team_limit.h"
#include "base/check.h"
#include "base/expiry.h"
#include "base/single_flight.h"

namespace tidemark::gate {

namespace {

Verdict Allow(Reason reason) { return {Decision::kAllow, reason}; }
Verdict Deny(Reason reason, std::string detail = {}) {
  return {Decision::kDeny, reason, std::move(detail)};
}
Verdict Unknown(Reason reason, std::string detail = {}) {
  return {Decision::kUnknown, reason, std::move(detail)};
}

// What is known about one part of a question: Slack's word on it, or why there is none.
struct Finding {
  std::optional<Observation> observation = std::nullopt;
  Reason unknown = Reason::kApiError;
  std::string detail = {};
  bool is_stored = false;  // The observation is in the table.
};

Finding FindingOf(const slack::LookupReply& reply, EpochSeconds asked_at) {
  auto said = [&](EntityState state) {
    return Finding{.observation = Observation{state, asked_at}, .detail = reply.error};
  };
  switch (reply.outcome) {
    case slack::LookupOutcome::kActive:
      return said(EntityState::kActive);
    case slack::LookupOutcome::kInactive:
      return said(EntityState::kInactive);
    case slack::LookupOutcome::kNotFound:
      return said(EntityState::kAbsent);
    case slack::LookupOutcome::kTimeout:
      return {.unknown = Reason::kTimeout, .detail = reply.error};
    case slack::LookupOutcome::kRateLimited:
      return {.unknown = Reason::kRateLimited, .detail = reply.error};
    case slack::LookupOutcome::kApiError:
      break;
  }
  return {.unknown = Reason::kApiError, .detail = reply.error};
}

Reason RefusalOf(slack::EntityKind kind, EntityState state) {
  switch (kind) {
    case slack::EntityKind::kTeam:
      return Reason::kTeamNotFound;
    case slack::EntityKind::kUser:
      return state == EntityState::kInactive ? Reason::kUserInactive : Reason::kUserNotFound;
    case slack::EntityKind::kChannel:
      break;
  }
  return state == EntityState::kInactive ? Reason::kChannelInactive : Reason::kChannelNotFound;
}

}  // namespace

Result<std::string> CacheKey(const Subject& subject) {
  std::string key = fmt::format("{}#{}#{}", subject.team.text(),
                                subject.user ? subject.user->text() : std::string(),
                                subject.channel ? subject.channel->text() : std::string());
  if (key.size() <= kMaxCacheKeyLength) return key;
  return Invalid(fmt::format("team_id, user_id and channel_id make a key of {} characters, over {}",
                             key.size(), kMaxCacheKeyLength));
}

class Existence::State {
 public:
  State(ExistenceOptions options, tables::Tables* tables, slack::Directory* directory,
        const Tokens* tokens, const Clock* clock, const Logger* logger, Metrics* metrics)
      : options_(std::move(options)),
        rows_(options_.table, tables, clock),
        directory_(*directory),
        tokens_(*tokens),
        clock_(*clock),
        logger_(logger),
        metrics_(metrics),
        team_limit_({.per_minute = options_.checks_per_team_minute, .max_teams = kMaxLimitedTeams},
                    clock) {
    if (!HasCache()) Warn("existence cache is off: no table is configured", {});
  }

  Status CreateTable() { return HasCache() ? rows_.CreateTable() : Status(Done{}); }

  Verdict Check(const Subject& subject);
  bool Recall(const Subject& subject);
  Status Invalidate(const std::string& id);

 private:
  struct Answer {
    Verdict verdict;
    bool from_table = false;
  };
  // What the table says. Without generations nothing in it can be believed, or written to it.
  struct Stored {
    Rows rows = {};
    std::optional<Generations> generations = std::nullopt;
  };

  bool HasCache() const { return !options_.table.empty(); }
  void Warn(std::string_view message, std::initializer_list<LogField> fields) const {
    if (logger_ != nullptr) logger_->Log(LogLevel::kWarning, message, fields);
  }

  Verdict Decide(const Subject& subject);
  Question QuestionOf(const Subject& subject, std::string key, Credential credential) const;
  bool IsAllowedBy(const Stored& stored, const Question& question) const;
  Verdict DecideWithoutToken(const Subject& subject) const;
  Stored Read(const Question& question, const std::vector<std::string>& keys);
  bool IsBelieved(const std::string& key, const Rows& rows, const std::string& generation) const;
  std::string FlightKey(const Question& question, const Stored& stored) const;
  Answer Verify(const Question& question);
  std::vector<Finding> FindingsIn(const Stored& stored, const Question& question) const;
  bool IsRefused(slack::EntityKind kind, const Observation& observation) const;
  bool IsSettled(const std::vector<Finding>& findings, const Question& question) const;
  std::optional<Verdict> AskSlack(const Question& question, const Stored& stored,
                                  std::vector<Finding>* findings);
  std::vector<slack::LookupReply> LookUp(const Question& question,
                                         const std::vector<slack::Lookup>& lookups);
  bool StorePart(const slack::Lookup& part, const std::string& generation,
                 const Observation& observation);
  std::optional<CacheRows::Written> Write(const item::Item& row);
  void StoreTriple(const Question& question, const Stored& stored,
                   const std::vector<Finding>& findings);
  Verdict VerdictOf(const Question& question, const std::vector<Finding>& findings,
                    Reason allowed) const;

  const ExistenceOptions options_;
  CacheRows rows_;
  slack::Directory& directory_;
  const Tokens& tokens_;
  const Clock& clock_;
  const Logger* const logger_;
  const ExistenceMetrics metrics_;
  TeamLimit team_limit_;
  SingleFlight<Answer> flights_;
  std::atomic<size_t> under_way_ = 0;
  // Counts what was invalidated here, so that nobody joins a flight from before it, also when the
  // table cannot be read.
  std::atomic<uint64_t> invalidations_ = 0;
};

Verdict Existence::State::Check(const Subject& subject) {
  Verdict verdict = Decide(subject);
  if (verdict.decision != Decision::kAllow) Count(metrics_.failures);
  return verdict;
}

Verdict Existence::State::Decide(const Subject& subject) {
  if (!options_.partial && (!subject.user || !subject.channel)) return Deny(Reason::kNoIds);
  Result<std::string> key = CacheKey(subject);
  if (!key) return Deny(Reason::kBadId, key.error().message);
  std::optional<Credential> credential = tokens_.Find(subject.team);
  if (!credential) return DecideWithoutToken(subject);

  const Question question = QuestionOf(subject, *std::move(key), *std::move(credential));
  const Stored stored = Read(question, TripleKeys(question));
  Answer answer{.verdict = Allow(Reason::kCached), .from_table = true};
  if (!IsAllowedBy(stored, question)) {
    answer = flights_.Do(FlightKey(question, stored), [&] { return Verify(question); });
  }
  Count(answer.from_table ? metrics_.cache_hits : metrics_.cache_misses);
  return answer.verdict;
}

bool Existence::State::Recall(const Subject& subject) {
  if (!options_.partial && (!subject.user || !subject.channel)) return false;
  Result<std::string> key = CacheKey(subject);
  std::optional<Credential> credential = tokens_.Find(subject.team);
  if (!key || !credential) return false;
  const Question question = QuestionOf(subject, *std::move(key), *std::move(credential));
  if (!IsAllowedBy(Read(question, TripleKeys(question)), question)) return false;
  Count(metrics_.cache_hits);
  return true;
}

Question Existence::State::QuestionOf(const Subject& subject, std::string key,
                                      Credential credential) const {
  return {.key = std::move(key),
          .parts = PartsOf(subject),
          .credential = std::move(credential),
          .deadline = Deadline::After(clock_, options_.deadline)};
}

bool Existence::State::IsAllowedBy(const Stored& stored, const Question& question) const {
  return stored.generations &&
         IsBelieved(question.key, stored.rows, stored.generations->OfTriple());
}

Verdict Existence::State::DecideWithoutToken(const Subject& subject) const {
  if (options_.missing_token == MissingToken::kRefuse) return Deny(Reason::kNoToken);
  Warn("existence check skipped: there is no token for the team",
       {{"team", subject.team.text()},
        {"user", subject.user ? std::string_view(subject.user->text()) : ""},
        {"channel", subject.channel ? std::string_view(subject.channel->text()) : ""}});
  return Allow(Reason::kSkipped);
}

Existence::State::Stored Existence::State::Read(const Question& question,
                                                const std::vector<std::string>& keys) {
  if (!HasCache()) return {};
  Result<Rows> rows = rows_.Read(keys);
  if (!rows) {
    Warn("existence cache read failed", {{"key", question.key}, {"error", rows.error().message}});
    return {};
  }
  std::optional<Generations> generations = Generations::In(*rows, question);
  if (!generations) Warn("existence cache has a damaged generation", {{"key", question.key}});
  return {.rows = *std::move(rows), .generations = std::move(generations)};
}

bool Existence::State::IsBelieved(const std::string& key, const Rows& rows,
                                  const std::string& generation) const {
  auto row = rows.find(key);
  if (row == rows.end()) return false;
  Belief belief = Believe(row->second, generation, clock_.NowSeconds());
  if (belief == Belief::kCorrupt) Warn("existence cache has a row without a time", {{"key", key}});
  return belief == Belief::kBelieved;
}

// Who came after an invalidation does not share what was asked before it.
std::string Existence::State::FlightKey(const Question& question, const Stored& stored) const {
  return fmt::format(
      "{} {} {}", question.key,
      stored.generations ? stored.generations->OfTriple() : question.credential.generation,
      invalidations_.load());
}

// Runs once at a time for a triple.
Existence::State::Answer Existence::State::Verify(const Question& question) {
  // Reads again: whoever had the flight before may have stored the answer since.
  const Stored stored = Read(question, AllKeys(question));
  if (IsAllowedBy(stored, question)) {
    return {.verdict = Allow(Reason::kCached), .from_table = true};
  }
  std::vector<Finding> findings = FindingsIn(stored, question);
  const bool from_table = IsSettled(findings, question);
  if (!from_table) {
    std::optional<Verdict> refused = AskSlack(question, stored, &findings);
    if (refused) return {.verdict = *std::move(refused)};
  }
  StoreTriple(question, stored, findings);
  Reason allowed = from_table ? Reason::kCached : Reason::kVerified;
  return {.verdict = VerdictOf(question, findings, allowed), .from_table = from_table};
}

std::vector<Finding> Existence::State::FindingsIn(const Stored& stored,
                                                  const Question& question) const {
  std::vector<Finding> findings(question.parts.size());
  for (size_t i = 0; stored.generations && i < findings.size(); ++i) {
    const std::string key = EntityKey(question.parts[i]);
    if (!IsBelieved(key, stored.rows, stored.generations->OfPart(i))) continue;
    findings[i].observation = ObservationIn(stored.rows.at(key));
    findings[i].is_stored = findings[i].observation.has_value();
  }
  return findings;
}

bool Existence::State::IsRefused(slack::EntityKind kind, const Observation& observation) const {
  if (observation.state == EntityState::kActive) return false;
  return observation.state == EntityState::kAbsent || kind != slack::EntityKind::kChannel ||
         options_.refuse_archived_channels;
}

// Whether Slack need not be asked: all parts are known, or one that is missing decides alone.
bool Existence::State::IsSettled(const std::vector<Finding>& findings,
                                 const Question& question) const {
  size_t known = 0;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].observation) continue;
    if (IsRefused(question.parts[i].kind, *findings[i].observation)) return true;
    ++known;
  }
  return known == findings.size();
}

// Fills in what is not known and stores Slack's word on it, or says why Slack was not asked.
std::optional<Verdict> Existence::State::AskSlack(const Question& question, const Stored& stored,
                                                  std::vector<Finding>* findings) {
  struct Slot {
    std::atomic<size_t>& taken;
    const size_t before = taken.fetch_add(1);
    ~Slot() { --taken; }
  };
  const Slot slot{under_way_};
  if (slot.before >= options_.max_under_way) return Unknown(Reason::kBusy);
  if (!team_limit_.Take(question.parts.front().id)) {
    return Unknown(Reason::kRateLimited, "the team's own limit");
  }
  std::vector<size_t> asked;
  std::vector<slack::Lookup> lookups;
  for (size_t i = 0; i < findings->size(); ++i) {
    if ((*findings)[i].observation) continue;
    asked.push_back(i);
    lookups.push_back(question.parts[i]);
  }
  // The time before the call: what Slack says was true then or later, never earlier.
  const EpochSeconds asked_at = clock_.NowSeconds();
  const std::vector<slack::LookupReply> replies = LookUp(question, lookups);
  for (size_t i = 0; i < asked.size(); ++i) {
    Finding& finding = (*findings)[asked[i]];
    finding = FindingOf(replies[i], asked_at);
    if (!finding.observation || !stored.generations) continue;
    finding.is_stored =
        StorePart(lookups[i], stored.generations->OfPart(asked[i]), *finding.observation);
  }
  return std::nullopt;
}

std::vector<slack::LookupReply> Existence::State::LookUp(
    const Question& question, const std::vector<slack::Lookup>& lookups) {
  const std::chrono::nanoseconds start = clock_.Monotonic();
  std::vector<slack::LookupReply> replies =
      directory_.LookUp(question.credential.token, lookups, question.deadline);
  CHECK(replies.size() == lookups.size());
  if (metrics_.slack_seconds != nullptr) {
    metrics_.slack_seconds->Observe(
        std::chrono::duration<double>(clock_.Monotonic() - start).count());
  }
  return replies;
}

// False when it is not in the table afterwards.
bool Existence::State::StorePart(const slack::Lookup& part, const std::string& generation,
                                 const Observation& observation) {
  std::optional<CacheRows::Written> written = Write(EntityRow(part, generation, observation));
  if (!written || !written->applied) return false;
  if (observation.state == EntityState::kActive || !written->previous) return true;
  // It was there a moment ago, and triples that say so may have been stored since: they go with
  // its generation. Ids that never existed raise none, or the table would fill with them.
  std::optional<Observation> before = ObservationIn(*written->previous);
  const bool was_active = before && before->state == EntityState::kActive;
  if (!was_active ||
      Believe(*written->previous, generation, clock_.NowSeconds()) != Belief::kBelieved) {
    return true;
  }
  Status raised = rows_.Raise(part.id);
  if (!raised) Warn("existence cache save failed", {{"error", raised.error().message}});
  return true;
}

std::optional<CacheRows::Written> Existence::State::Write(const item::Item& row) {
  Result<CacheRows::Written> written = rows_.Write(row);
  if (written) return *std::move(written);
  Warn("existence cache save failed", {{"error", written.error().message}});
  return std::nullopt;
}

// Only when all parts are active, so that the row means the same under every policy, and stored:
// a part that the table refused is one that somebody knows better. The row is as old as its oldest
// part: a verdict made of others adds nothing to their life.
void Existence::State::StoreTriple(const Question& question, const Stored& stored,
                                   const std::vector<Finding>& findings) {
  const EpochSeconds now = clock_.NowSeconds();
  EpochSeconds verified_at = now;
  for (const Finding& finding : findings) {
    if (!finding.is_stored || finding.observation->state != EntityState::kActive) return;
    verified_at = std::min(verified_at, finding.observation->verified_at);
  }
  if (!IsLive(verified_at + kVerifiedLifeSeconds, now)) return;
  Write(TripleRow(question.key, stored.generations->OfTriple(), verified_at));
}

// A definite no decides, whatever else is not known.
Verdict Existence::State::VerdictOf(const Question& question, const std::vector<Finding>& findings,
                                    Reason allowed) const {
  const Finding* unknown = nullptr;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const slack::EntityKind kind = question.parts[i].kind;
    if (!finding.observation) {
      if (unknown == nullptr) unknown = &finding;
    } else if (IsRefused(kind, *finding.observation)) {
      return Deny(RefusalOf(kind, finding.observation->state), finding.detail);
    }
  }
  return unknown ? Unknown(unknown->unknown, unknown->detail) : Allow(allowed);
}

Status Existence::State::Invalidate(const std::string& id) {
  ++invalidations_;
  return HasCache() ? rows_.Raise(id) : Status(Done{});
}

Existence::Existence(ExistenceOptions options, tables::Tables* tables, slack::Directory* directory,
                     const Tokens* tokens, const Clock* clock, const Logger* logger,
                     Metrics* metrics)
    : state_(std::make_unique<State>(std::move(options), tables, directory, tokens, clock, logger,
                                     metrics)) {}
Existence::~Existence() = default;

Status Existence::CreateTable() { return state_->CreateTable(); }

Verdict Existence::Check(const Subject& subject) { return state_->Check(subject); }
bool Existence::Recall(const Subject& subject) { return state_->Recall(subject); }

Status Existence::Invalidate(slack::EntityKind kind, const std::string& id) {
  TRY(VerifyId({kind, id}));
  return state_->Invalidate(id);
}

Status Existence::InvalidateTriple(const Subject& subject) {
  if (!subject.user && !subject.channel) return state_->Invalidate(subject.team.text());
  if (subject.user) TRY(state_->Invalidate(subject.user->text()));
  if (subject.channel) TRY(state_->Invalidate(subject.channel->text()));
  return Done{};
}

}  // namespace tidemark::gate
