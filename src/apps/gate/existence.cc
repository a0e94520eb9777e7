#include "apps/gate/existence.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "apps/gate/cache_rows.h"
#include "apps/gate/limits.h"
#include "apps/gate/metrics.h"
#include "apps/gate/question.h"
#include "apps/gate/team_limit.h"
#include "base/check.h"
#include "base/expiry.h"
#include "base/shared_flights.h"
#include "base/worker_pool.h"

namespace tidemark::gate {

namespace {

Verdict Allow(Reason reason) { return {Decision::kAllow, reason}; }
Verdict AllowBy(const item::Item& row) {
  return {.decision = Decision::kAllow,
          .reason = Reason::kCached,
          .in_public_channel = SaysPublic(row)};
}
Verdict Unknown(Reason reason, std::string detail = {}) {
  return {Decision::kUnknown, reason, std::move(detail)};
}

// What is known about one id of a question: Slack's answer, or why there is none.
struct Finding {
  std::optional<Observation> observation = std::nullopt;
  Reason unknown = Reason::kApiError;  // Without an observation.
  std::string detail = {};
  bool is_stored = false;  // The observation is in the table.
};

Finding FindingOf(const slack::LookupReply& reply, EpochSeconds asked_at) {
  auto said = [&](EntityState state) {
    return Finding{.observation = Observation{state, asked_at, reply.is_public},
                   .detail = reply.error};
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
  return Invalid(
      fmt::format("the key of team_id, user_id and channel_id has {} characters, over {}",
                  key.size(), kMaxCacheKeyLength));
}

class Existence::State {
 public:
  State(ExistenceOptions options, tables::Tables* tables, slack::Directory* directory,
        const Tokens* tokens, const Runtime& runtime, Roster* roster)
      : options_(std::move(options)),
        rows_(options_.table, tables, &runtime.clock),
        directory_(*directory),
        tokens_(*tokens),
        clock_(runtime.clock),
        logger_(runtime.logger),
        metrics_(runtime.metrics),
        roster_(roster),
        team_limit_({.per_minute = options_.checks_per_team_minute, .max_teams = kMaxLimitedTeams},
                    &runtime.clock) {
    if (!HasCache()) Warn("existence cache is off: no table is configured", {});
  }

  Status CreateTable() { return HasCache() ? rows_.CreateTable() : Status(Done{}); }

  // The thread that asks Slack.
  enum class AskOn { kThisThread, kAsker };

  Later<Verdict> Check(const Subject& subject, AskOn thread);
  std::optional<Verdict> Recall(const Subject& subject);
  Status Invalidate(const std::string& id);

 private:
  struct CheckedVerdict {
    Verdict verdict;
    bool from_table = false;  // Slack was not asked.
  };
  using SharedQuestion = std::shared_ptr<const Question>;
  // The rows of a question. Without generations (the table could not be read, or a generation is
  // damaged) no row may be used, and none may be written.
  struct StoredRows {
    Rows rows = {};
    std::optional<Generations> generations = std::nullopt;
  };

  bool HasCache() const { return !options_.table.empty(); }
  void Warn(std::string_view message, std::initializer_list<LogField> fields) const {
    logger_.Log(LogLevel::kWarning, message, fields);
  }

  // What is decided without Slack, or the question for it.
  std::variant<CheckedVerdict, SharedQuestion> Decide(const Subject& subject);
  Later<CheckedVerdict> Fly(const SharedQuestion& question, AskOn thread);
  WorkerPool& Askers();
  Verdict Count(const CheckedVerdict& answer);
  Question QuestionOf(const Subject& subject, std::string key, Credential credential) const;
  // The row of the triple if it allows the question; nullptr otherwise.
  const item::Item* FindAllowing(const StoredRows& stored, const Question& question) const;
  Verdict DecideWithoutToken(const Subject& subject) const;
  StoredRows Read(const Question& question, const std::vector<std::string>& keys);
  bool IsBelieved(const std::string& key, const Rows& rows, const std::string& generation,
                  SeedRows seed_rows) const;
  std::string FlightKey(const Question& question, const StoredRows& stored) const;
  CheckedVerdict Verify(const Question& question);
  std::vector<Finding> FindingsIn(const StoredRows& stored, const Question& question) const;
  void FindInLists(const Question& question, const StoredRows& stored,
                   std::vector<Finding>* findings);
  void NoteFound(const Question& question, slack::LookupReply reply, EpochSeconds asked_at);
  bool IsRefused(slack::EntityKind kind, const Observation& observation) const;
  bool IsSettled(const std::vector<Finding>& findings, const Question& question) const;
  std::optional<Verdict> AskSlack(const Question& question, const StoredRows& stored,
                                  std::vector<Finding>* findings);
  std::vector<slack::LookupReply> LookUp(const Question& question,
                                         const std::vector<slack::Lookup>& lookups);
  bool StorePart(const slack::Lookup& part, const std::string& generation,
                 const Observation& observation);
  std::optional<CacheRows::Written> Write(const item::Item& row);
  void StoreTriple(const Question& question, const StoredRows& stored,
                   const std::vector<Finding>& findings);
  Verdict VerdictOf(const Question& question, const std::vector<Finding>& findings,
                    Reason allowed) const;

  const ExistenceOptions options_;
  CacheRows rows_;
  slack::Directory& directory_;
  const Tokens& tokens_;
  const Clock& clock_;
  const Logger& logger_;
  const ExistenceMetrics metrics_;
  Roster* const roster_;  // May be null.
  TeamLimit team_limit_;
  SharedFlights<CheckedVerdict> flights_;
  std::atomic<size_t> under_way_ = 0;
  // Counts the invalidations of this process. It is part of a flight's key, so that a check after
  // an invalidation does not join calls that began before it, even if the table cannot be read.
  std::atomic<uint64_t> invalidations_ = 0;
  // Started by the first check that does not block. Last: its threads use the members above.
  std::once_flag askers_started_;
  std::optional<WorkerPool> askers_;
};

Later<Verdict> Existence::State::Check(const Subject& subject, AskOn thread) {
  auto decided = Decide(subject);
  if (const auto* verdict = std::get_if<CheckedVerdict>(&decided)) return Count(*verdict);
  return Fly(std::get<SharedQuestion>(decided), thread)
      .Then([this](const Result<CheckedVerdict>& answer) {
        return Count(answer ? *answer : CheckedVerdict{Unknown(Reason::kBusy)});
      });
}

WorkerPool& Existence::State::Askers() {
  std::call_once(askers_started_, [this] {
    askers_.emplace(
        WorkerPoolOptions{.threads = options_.max_under_way, .max_waiting = options_.max_waiting});
  });
  return *askers_;
}

Verdict Existence::State::Count(const CheckedVerdict& answer) {
  if (answer.verdict.decision != Decision::kAllow) metrics_.failures.Add();
  return answer.verdict;
}

std::variant<Existence::State::CheckedVerdict, Existence::State::SharedQuestion>
Existence::State::Decide(const Subject& subject) {
  const auto without_slack = [](Verdict verdict) { return CheckedVerdict{std::move(verdict)}; };
  if (!options_.partial && (!subject.user || !subject.channel)) {
    return without_slack(Deny(Reason::kNoIds));
  }
  Result<std::string> key = CacheKey(subject);
  if (!key) return without_slack(Deny(Reason::kBadId, key.error().message));
  std::optional<Credential> credential = tokens_.Find(subject.team);
  if (!credential) return without_slack(DecideWithoutToken(subject));
  return std::make_shared<const Question>(
      QuestionOf(subject, *std::move(key), *std::move(credential)));
}

// The check of a question. Checks of the same question at the same time share one set of calls to
// Slack, which is made on this thread or on one of the askers.
Later<Existence::State::CheckedVerdict> Existence::State::Fly(const SharedQuestion& question,
                                                              AskOn thread) {
  const StoredRows stored = Read(*question, TripleKeys(*question));
  if (const item::Item* const row = FindAllowing(stored, *question)) {
    metrics_.cache_hits.Add();
    return CheckedVerdict{.verdict = AllowBy(*row), .from_table = true};
  }
  const std::string key = FlightKey(*question, stored);
  return flights_
      .Join(key,
            [&] {
              if (thread == AskOn::kThisThread) return flights_.Land(key, Verify(*question));
              Askers()
                  .Run([this, question] { return Verify(*question); })
                  .Then([this, key](const Result<CheckedVerdict>& answer) {
                    flights_.Land(key, answer);
                  });
            })
      .Then([this](Result<CheckedVerdict> answer) {
        if (answer) (answer->from_table ? metrics_.cache_hits : metrics_.cache_misses).Add();
        return answer;
      });
}

std::optional<Verdict> Existence::State::Recall(const Subject& subject) {
  if (!options_.partial && (!subject.user || !subject.channel)) return std::nullopt;
  Result<std::string> key = CacheKey(subject);
  std::optional<Credential> credential = tokens_.Find(subject.team);
  if (!key || !credential) return std::nullopt;
  const Question question = QuestionOf(subject, *std::move(key), *std::move(credential));
  const StoredRows stored = Read(question, TripleKeys(question));
  const item::Item* const row = FindAllowing(stored, question);
  if (row == nullptr) return std::nullopt;
  metrics_.cache_hits.Add();
  return AllowBy(*row);
}

Question Existence::State::QuestionOf(const Subject& subject, std::string key,
                                      Credential credential) const {
  return {.key = std::move(key),
          .team = subject.team,
          .parts = PartsOf(subject),
          .credential = std::move(credential),
          .deadline = Deadline::After(clock_, options_.deadline)};
}

const item::Item* Existence::State::FindAllowing(const StoredRows& stored,
                                                 const Question& question) const {
  if (!stored.generations) return nullptr;
  const auto seed_rows = stored.generations->AreAllZero() ? SeedRows::kBelieve : SeedRows::kIgnore;
  const bool allows =
      IsBelieved(question.key, stored.rows, stored.generations->OfTriple(), seed_rows);
  return allows ? &stored.rows.at(question.key) : nullptr;
}

Verdict Existence::State::DecideWithoutToken(const Subject& subject) const {
  if (options_.missing_token == MissingToken::kRefuse) return Unknown(Reason::kNoToken);
  Warn("existence check skipped: there is no token for the team",
       {{"team", subject.team.text()},
        {"user", subject.user ? std::string_view(subject.user->text()) : ""},
        {"channel", subject.channel ? std::string_view(subject.channel->text()) : ""}});
  return Allow(Reason::kSkipped);
}

Existence::State::StoredRows Existence::State::Read(const Question& question,
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
                                  const std::string& generation, SeedRows seed_rows) const {
  auto row = rows.find(key);
  if (row == rows.end()) return false;
  Belief belief = Believe(row->second, generation, seed_rows, clock_.NowSeconds());
  if (belief == Belief::kCorrupt) Warn("existence cache has a row without a time", {{"key", key}});
  return belief == Belief::kBelieved;
}

// The key under which checks share one set of calls. It contains the generations, so that a check
// after an invalidation does not share calls that began before it.
std::string Existence::State::FlightKey(const Question& question, const StoredRows& stored) const {
  return fmt::format(
      "{} {} {}", question.key,
      stored.generations ? stored.generations->OfTriple() : question.credential.generation,
      invalidations_.load());
}

// Runs at most once at a time for each flight key.
Existence::State::CheckedVerdict Existence::State::Verify(const Question& question) {
  // Reads again: the previous flight of this key may have stored the answer after Decide read.
  const StoredRows stored = Read(question, AllKeys(question));
  if (const item::Item* const row = FindAllowing(stored, question)) {
    return {.verdict = AllowBy(*row), .from_table = true};
  }
  std::vector<Finding> findings = FindingsIn(stored, question);
  if (roster_ != nullptr) FindInLists(question, stored, &findings);
  const bool from_table = IsSettled(findings, question);
  if (!from_table) {
    std::optional<Verdict> refused = AskSlack(question, stored, &findings);
    if (refused) return {.verdict = *std::move(refused)};
  }
  const auto& of_team = findings.front().observation;
  if (roster_ != nullptr && of_team && of_team->state == EntityState::kActive) {
    roster_->Want(question.team);
  }
  StoreTriple(question, stored, findings);
  Reason allowed = from_table ? Reason::kCached : Reason::kVerified;
  return {.verdict = VerdictOf(question, findings, allowed), .from_table = from_table};
}

std::vector<Finding> Existence::State::FindingsIn(const StoredRows& stored,
                                                  const Question& question) const {
  std::vector<Finding> findings(question.parts.size());
  for (size_t i = 0; stored.generations && i < findings.size(); ++i) {
    const std::string key = EntityKey(question.parts[i]);
    if (!IsBelieved(key, stored.rows, stored.generations->OfPart(i), SeedRows::kIgnore)) continue;
    findings[i].observation = ObservationIn(stored.rows.at(key));
    findings[i].is_stored = findings[i].observation.has_value();
  }
  return findings;
}

// The lists were asked for without knowing which generations their ids have. So an entry is used
// only if it is clearly newer than the last invalidation of its id and of its team.
void Existence::State::FindInLists(const Question& question, const StoredRows& stored,
                                   std::vector<Finding>* findings) {
  if (!stored.generations) return;
  for (size_t i = 0; i < findings->size(); ++i) {
    Finding& finding = (*findings)[i];
    const slack::Lookup& part = question.parts[i];
    if (finding.observation || part.kind == slack::EntityKind::kTeam) continue;
    const auto listed = roster_->Find(question.team, question.credential.generation, part);
    if (!listed) continue;
    if (MayPredateInvalidation(stored.rows, part.id, listed->verified_at) ||
        MayPredateInvalidation(stored.rows, question.team.text(), listed->verified_at)) {
      continue;
    }
    metrics_.listed.Add();
    finding.observation = listed;
    finding.is_stored = StorePart(part, stored.generations->OfPart(i), *listed);
  }
}

void Existence::State::NoteFound(const Question& question, slack::LookupReply reply,
                                 EpochSeconds asked_at) {
  if (auto* person = std::get_if<slack::Person>(&reply.entity)) {
    roster_->NoteFound({question.team, std::move(*person), asked_at});
  }
  if (auto* conversation = std::get_if<slack::Conversation>(&reply.entity)) {
    roster_->NoteFound({question.team, std::move(*conversation), asked_at});
  }
}

bool Existence::State::IsRefused(slack::EntityKind kind, const Observation& observation) const {
  if (observation.state == EntityState::kActive) return false;
  return observation.state == EntityState::kAbsent || kind != slack::EntityKind::kChannel ||
         options_.refuse_archived_channels;
}

// Whether Slack need not be asked: all ids are known, or one of them is known to be refused.
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

// Asks Slack about the ids without an observation, and stores its answers. Returns a verdict when
// a limit forbids asking.
std::optional<Verdict> Existence::State::AskSlack(const Question& question,
                                                  const StoredRows& stored,
                                                  std::vector<Finding>* findings) {
  struct Slot {
    std::atomic<size_t>& taken;
    const size_t before = taken.fetch_add(1);
    ~Slot() { --taken; }
  };
  // The slot is taken before the limit is checked. With the check first, several threads could pass
  // it at the same moment.
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
  // Taken before the call: Slack's answer is true at this time or later. With the time after the
  // call, a row could claim to be newer than a removal that happened during the call.
  const EpochSeconds asked_at = clock_.NowSeconds();
  const std::vector<slack::LookupReply> replies = LookUp(question, lookups);
  for (size_t i = 0; i < asked.size(); ++i) {
    Finding& finding = (*findings)[asked[i]];
    finding = FindingOf(replies[i], asked_at);
    if (roster_ != nullptr) NoteFound(question, replies[i], asked_at);
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
  metrics_.slack_seconds.Observe(std::chrono::duration<double>(clock_.Monotonic() - start).count());
  return replies;
}

// False when the observation is not in the table afterwards.
bool Existence::State::StorePart(const slack::Lookup& part, const std::string& generation,
                                 const Observation& observation) {
  std::optional<CacheRows::Written> written = Write(EntityRow(part, generation, observation));
  if (!written || !written->applied) return false;
  if (observation.state == EntityState::kActive || !written->previous) return true;
  // The id was active until now, and rows of triples may still say so. Raising its generation makes
  // them void. This is done only for an id that was active: otherwise requests with random ids
  // would fill the table with generations, which never expire.
  std::optional<Observation> before = ObservationIn(*written->previous);
  const bool was_active = before && before->state == EntityState::kActive;
  if (!was_active || Believe(*written->previous, generation, SeedRows::kIgnore,
                             clock_.NowSeconds()) != Belief::kBelieved) {
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

// Writes the row of the triple only when all its ids are active and stored. Active: then the row
// means the same under every setting. Stored: when the table refused the row of an id, another
// process has a newer answer about it. The row is as old as the oldest answer it is made of, so
// that it does not outlive any of them.
void Existence::State::StoreTriple(const Question& question, const StoredRows& stored,
                                   const std::vector<Finding>& findings) {
  const EpochSeconds now = clock_.NowSeconds();
  Verification verification{.verified_at = now};
  for (const Finding& finding : findings) {
    if (!finding.is_stored || finding.observation->state != EntityState::kActive) return;
    verification.verified_at = std::min(verification.verified_at, finding.observation->verified_at);
    verification.in_public_channel |= finding.observation->is_public;
  }
  if (!IsLive(verification.verified_at + kVerifiedLifeSeconds, now)) return;
  Write(TripleRow(question.key, stored.generations->OfTriple(), verification));
}

// A refused id decides the verdict, even if other ids are unknown.
Verdict Existence::State::VerdictOf(const Question& question, const std::vector<Finding>& findings,
                                    Reason allowed) const {
  Verdict verdict = Allow(allowed);
  bool in_public_channel = false;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const slack::EntityKind kind = question.parts[i].kind;
    if (!finding.observation) {
      if (verdict.decision == Decision::kAllow) verdict = Unknown(finding.unknown, finding.detail);
      continue;
    }
    in_public_channel |= finding.observation->is_public;
    if (verdict.decision != Decision::kDeny && IsRefused(kind, *finding.observation)) {
      verdict = Deny(RefusalOf(kind, finding.observation->state), finding.detail);
    }
  }
  verdict.in_public_channel = in_public_channel;
  return verdict;
}

Status Existence::State::Invalidate(const std::string& id) {
  // Counted before the table is written: after this call has returned, no check may share calls
  // that began before it, even if the table cannot be read.
  ++invalidations_;
  return HasCache() ? rows_.Raise(id) : Status(Done{});
}

Existence::Existence(ExistenceOptions options, tables::Tables* tables, slack::Directory* directory,
                     const Tokens* tokens, const Runtime& runtime, Roster* roster)
    : state_(std::make_unique<State>(std::move(options), tables, directory, tokens, runtime,
                                     roster)) {}
Existence::~Existence() = default;

Status Existence::CreateTable() { return state_->CreateTable(); }

Verdict Existence::Check(const Subject& subject) {
  return *state_->Check(subject, State::AskOn::kThisThread).Wait();
}
Later<Verdict> Existence::CheckLater(const Subject& subject) {
  return state_->Check(subject, State::AskOn::kAsker);
}
std::optional<Verdict> Existence::Recall(const Subject& subject) { return state_->Recall(subject); }

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
