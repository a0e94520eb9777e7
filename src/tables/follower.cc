#include "tables/follower.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/expiry.h"
#include "tables/limits.h"

namespace tidemark::tables {

namespace {

// How often a write of which we do not know whether it was applied is tried in one step.
constexpr int kMaxStoreAttempts = 3;
constexpr size_t kNonceBytes = 16;

item::KeySchema StateKeys() { return {.partition = {.name = "consumer"}}; }

Status VerifyOptions(const FollowerOptions& options) {
  if (options.consumer.empty()) return Invalid("a follower needs the name of its consumer");
  if (options.lease_seconds < 1) return Invalid("a follower's lease lasts at least one second");
  if (options.page < 1 || options.page > kMaxRecordsPage) {
    return Invalid(fmt::format("a follower's page has 1 to {} records", kMaxRecordsPage));
  }
  return Done{};
}

Status MakeStateTable(Tables& tables, const std::string& name) {
  Result<TableDescription> found = tables.DescribeTable(name);
  if (found) return Done{};
  if (found.error().code != ErrorCode::kNotFound) return found.error();
  Result<TableDescription> made = tables.CreateTable({.table = name, .keys = StateKeys()});
  // Another follower made it between our two calls.
  bool exists = made || made.error().code == ErrorCode::kInUse;
  return exists ? Status(Done{}) : Status(made.error());
}

const std::string* FindText(const item::Item& row, std::string_view name) {
  const item::Value* value = row.Find(name);
  return value ? value->As<std::string>() : nullptr;
}

std::optional<int64_t> FindInt(const item::Item& row, std::string_view name) {
  const item::Value* value = row.Find(name);
  const item::Number* number = value ? value->As<item::Number>() : nullptr;
  return number ? number->Floor() : std::nullopt;
}

std::string TextOrEmpty(const item::Item& row, std::string_view name) {
  const std::string* text = FindText(row, name);
  return text ? *text : std::string();
}

}  // namespace

Result<Follower> Follower::Open(Tables& tables, const Clock& clock, Random& random,
                                FollowerOptions options) {
  TRY(VerifyOptions(options));
  TRY(MakeStateTable(tables, options.state_table));
  return Follower(tables, clock, random, std::move(options));
}

Follower::Follower(Tables& tables, const Clock& clock, Random& random, FollowerOptions options)
    : tables_(&tables),
      clock_(&clock),
      options_(std::move(options)),
      nonce_(random.Hex(kNonceBytes)),
      reader_(tables, options_.table),
      reached_(clock.NowSeconds()) {}

Result<FollowReply> Follower::Step(const Handler& handler) {
  FollowReply reply;
  if (!TRY(HoldLease())) {
    reached_ = clock_->NowSeconds();
    return reply;
  }
  StreamPage page = TRY(reader_.Read(state_->position, options_.page));
  State next = *state_;
  next.position = page.start;
  if (IsRefusedGone(page)) page.gap = true;
  if (page.gap) {
    ++next.gaps;
    page.records.clear();
  }
  Status accepted = Handle(page, handler, &next, &reply.handled);

  reply.held = true;
  if (next.position != state_->position || page.gap) {
    next.lease_end = NewLeaseEnd();
    Result<bool> stored = Store(*state_, next);
    // When the handler failed too, its error is the one to show: whatever was not stored is
    // handled again in any case.
    if (accepted) reply.held = TRY(std::move(stored));
  }
  refused_.reset();
  if (!accepted && reply.handled == 0) refused_ = {page.start, page.records.front().sequence};
  TRY(std::move(accepted));
  reply.caught_up = page.at_end;
  reply.gap = page.gap;
  if (reply.caught_up) reached_ = clock_->NowSeconds();
  return reply;
}

int64_t Follower::LagSeconds() const {
  return std::max<int64_t>(0, clock_->NowSeconds() - reached_);
}

Status Follower::Stop() {
  if (!state_) return Done{};
  State released = *state_;
  released.lease_end = 0;
  // Superseded is as good as released.
  Result<bool> stored = Store(*state_, released);
  state_.reset();
  return stored ? Status(Done{}) : Status(stored.error());
}

// True when we hold the lease, with more than half of it left if the store let us renew it.
Result<bool> Follower::HoldLease() {
  if (state_ && IsLeaseLive() && !IsRenewalDue()) return true;
  State current = state_ ? *state_ : TRY(Load());
  // A live lease under our own nonce is one whose reply was lost.
  bool is_ours = current.owner == nonce_;
  if (!is_ours && IsLive(current.lease_end, clock_->NowSeconds())) return false;
  State next = current;
  next.lease_end = NewLeaseEnd();
  return Store(current, std::move(next));
}

// A position that names no record, as where a shard begins, does not tell that records behind it
// were trimmed; the one that was there, and has not been handled, does.
bool Follower::IsRefusedGone(const StreamPage& page) const {
  if (!refused_ || refused_->position != state_->position) return false;
  return page.records.empty() || page.records.front().sequence != refused_->sequence;
}

// Stops without an error when half the lease is gone: the position that is stored then renews it.
Status Follower::Handle(const StreamPage& page, const Handler& handler, State* next,
                        size_t* handled) {
  for (const StreamRecord& record : page.records) {
    if (!IsLeaseLive() || (*handled > 0 && IsRenewalDue())) break;
    reached_ = record.created_at;
    TRY(handler(record).WithContext(fmt::format("consumer '{}', table '{}', record {}",
                                                options_.consumer, options_.table,
                                                record.sequence)));
    ++*handled;
    next->position = page.PositionAfter(record);
    next->record_at = record.created_at;
  }
  return Done{};
}

Result<Follower::State> Follower::Load() const {
  std::optional<item::Item> row =
      TRY(tables_->Get({.table = options_.state_table, .key = {{"consumer", options_.consumer}}}));
  return row ? Decode(*row) : Result<State>(State{});
}

// Replaces the row if it still is `current`. False when somebody else wrote it meanwhile.
//
// Every write raises the generation and asks for the one before it. So a write whose reply was
// lost can simply be tried again: at most one of the tries applies, the others are refused
// and show our own row; and one that arrives late changes nothing.
Result<bool> Follower::Store(const State& current, State next) {
  next.owner = nonce_;
  next.generation = current.generation + 1;
  PutRequest request{.table = options_.state_table,
                     .item = Encode(next),
                     .condition = "attribute_not_exists(consumer)",
                     .on_failure = OnConditionFailure::kAllOld};
  if (current.generation > 0) {
    request.condition = "#owner = :owner AND #generation = :generation";
    request.names = {{"#owner", "owner"}, {"#generation", "generation"}};
    request.values = {{":owner", current.owner},
                      {":generation", item::Number::FromInt(current.generation)}};
  }
  std::chrono::nanoseconds started = clock_->Monotonic();
  for (int attempt = 1;; ++attempt) {
    Result<WriteReply> reply = tables_->Put(request);
    if (reply) {
      bool applied = reply->applied || reply->failed_on == request.item;
      state_.reset();
      if (applied) state_ = std::move(next);
      lease_deadline_ = started + std::chrono::seconds(options_.lease_seconds);
      return applied;
    }
    bool is_unknown = reply.error().code == ErrorCode::kUnknown;
    if (is_unknown && attempt < kMaxStoreAttempts) continue;
    // An earlier try may have been applied; the next step reads the row to find out.
    if (is_unknown || attempt > 1) state_.reset();
    return std::move(reply).error();
  }
}

bool Follower::IsLeaseLive() const {
  return IsLive(state_->lease_end, clock_->NowSeconds()) && clock_->Monotonic() < lease_deadline_;
}

bool Follower::IsRenewalDue() const {
  std::chrono::nanoseconds left = lease_deadline_ - clock_->Monotonic();
  return left * 2 < std::chrono::seconds(options_.lease_seconds);
}

item::Item Follower::Encode(const State& state) const {
  item::Item row{{"consumer", options_.consumer},
                 {"table", options_.table},
                 {"owner", state.owner},
                 {"generation", item::Number::FromInt(state.generation)},
                 {"lease_end", item::Number::FromInt(state.lease_end)},
                 {"record_at", item::Number::FromInt(state.record_at)},
                 {"gaps", item::Number::FromInt(state.gaps)}};
  if (state.position.stream.empty()) return row;
  row.Set("stream", state.position.stream);
  row.Set("label", state.position.label);
  row.Set("shard", state.position.shard);
  row.Set("sequence", state.position.sequence);
  row.Set("drained", state.position.drained);
  return row;
}

Result<Follower::State> Follower::Decode(const item::Item& row) const {
  const std::string* table = FindText(row, "table");
  const std::string* owner = FindText(row, "owner");
  std::optional<int64_t> generation = FindInt(row, "generation");
  std::optional<int64_t> lease_end = FindInt(row, "lease_end");
  if (!table || !owner || !generation || *generation < 1 || !lease_end) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("table '{}': the row of consumer '{}' is no consumer's; delete it to "
                             "begin again from the oldest record",
                             options_.state_table, options_.consumer)};
  }
  if (*table != options_.table) {
    return Invalid(fmt::format("consumer '{}' follows table '{}', not '{}': choose another name",
                               options_.consumer, *table, options_.table));
  }
  const item::Value* drained = row.Find("drained");
  return State{.owner = *owner,
               .generation = *generation,
               .lease_end = *lease_end,
               .position = {.stream = TextOrEmpty(row, "stream"),
                            .label = TextOrEmpty(row, "label"),
                            .shard = TextOrEmpty(row, "shard"),
                            .sequence = TextOrEmpty(row, "sequence"),
                            .drained = drained && drained->As<bool>() && *drained->As<bool>()},
               .record_at = FindInt(row, "record_at").value_or(0),
               .gaps = FindInt(row, "gaps").value_or(0)};
}

}  // namespace tidemark::tables
