#include "tables/follower.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/deadline.h"
#include "base/expiry.h"
#include "base/retry.h"
#include "item/attributes.h"
#include "tables/ensure_table.h"
#include "tables/limits.h"

namespace tidemark::tables {

namespace {

// Of a write of the consumer's row. The pauses are short, because they take from the lease.
constexpr RetryPolicy kStoreRetry = {.max_retries = 2,
                                     .first_wait = std::chrono::milliseconds(5),
                                     .longest_wait = std::chrono::milliseconds(10)};
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

}  // namespace

Result<Follower> Follower::Open(Tables& tables, const Runtime& runtime, FollowerOptions options) {
  TRY(VerifyOptions(options));
  TRY(EnsureTable(tables, {.table = options.state_table, .keys = StateKeys()}, std::nullopt));
  return Follower(tables, runtime, std::move(options));
}

Follower::Follower(Tables& tables, const Runtime& runtime, FollowerOptions options)
    : tables_(&tables),
      clock_(&runtime.clock),
      writer_(std::make_unique<ConditionalWriter>(&tables, kStoreRetry, runtime)),
      options_(std::move(options)),
      nonce_(runtime.random.Hex(kNonceBytes)),
      reader_(tables, options_.table),
      reached_(runtime.clock.NowSeconds()) {}

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
  // A gap is counted and stored before any record after it is handled. Otherwise a crash in between
  // would hide that records are missing.
  if (page.gap) {
    ++next.gaps;
    page.records.clear();
  }
  Status accepted = Handle(page, handler, &next, &reply.handled);

  reply.held = true;
  if (next.position != state_->position || page.gap) {
    next.lease_end = NewLeaseEnd();
    Result<bool> stored = Store(*state_, next);
    // When the handler failed too, its error is returned: records whose position was not stored are
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
  // If another follower took the lease over, there is nothing to release.
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

// A position without a record, such as the beginning of a shard, does not show that records after
// it were trimmed. The record that was refused there shows it: if it is gone, it was trimmed.
bool Follower::IsRefusedGone(const StreamPage& page) const {
  if (!refused_ || refused_->position != state_->position) return false;
  return page.records.empty() || page.records.front().sequence != refused_->sequence;
}

// Stops without an error when half of the lease has passed. Storing the position then renews the
// lease.
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

// Replaces the row if it is still `current`. False when another follower wrote it in the meantime.
//
// Every write raises the generation, on the condition that the row has the previous one. So a write
// whose reply was lost can simply be tried again: at most one of the tries is applied. The others
// are refused and return our own row, and a try that arrives late changes nothing.
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
  // The lease is counted from before the write, as `lease_end` in the row is. A slow reply must not
  // make it longer for us than it is for other followers.
  const std::chrono::nanoseconds lease = std::chrono::seconds(options_.lease_seconds);
  const std::chrono::nanoseconds started = clock_->Monotonic();
  const auto is_ours = [row = request.item](const item::Item& stored) { return stored == row; };
  const auto reply = writer_->Write({.actions = {std::move(request)}, .is_ours = is_ours},
                                    Deadline::After(*clock_, lease / 2));
  if (!reply) {
    // One of the tries may have been applied; the next step reads the row to find out.
    if (reply.error().code == ErrorCode::kUnknown) state_.reset();
    return reply.error();
  }
  state_.reset();
  if (reply->IsWritten()) state_ = std::move(next);
  lease_deadline_ = started + lease;
  return reply->IsWritten();
}

// Both clocks must agree. The wall clock is the one that other followers compare with; the
// monotonic clock does not jump when somebody sets the time.
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
  // The row is not trusted: people can edit it with any tool that writes to tables.
  const std::string* table = item::FindText(row, "table");
  const std::string* owner = item::FindText(row, "owner");
  std::optional<int64_t> generation = item::IntIn(row, "generation");
  std::optional<int64_t> lease_end = item::IntIn(row, "lease_end");
  if (!table || !owner || !generation || *generation < 1 || !lease_end) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("table '{}': the row of consumer '{}' is not valid; delete it to "
                             "begin again from the oldest record",
                             options_.state_table, options_.consumer)};
  }
  if (*table != options_.table) {
    return Invalid(fmt::format("consumer '{}' follows table '{}', not '{}': choose another name",
                               options_.consumer, *table, options_.table));
  }
  return State{.owner = *owner,
               .generation = *generation,
               .lease_end = *lease_end,
               .position = {.stream = item::TextIn(row, "stream"),
                            .label = item::TextIn(row, "label"),
                            .shard = item::TextIn(row, "shard"),
                            .sequence = item::TextIn(row, "sequence"),
                            .drained = item::IsTrueIn(row, "drained")},
               .record_at = item::IntIn(row, "record_at").value_or(0),
               .gaps = item::IntIn(row, "gaps").value_or(0)};
}

}  // namespace tidemark::tables
