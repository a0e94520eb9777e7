// Follower is a consumer of a table's changes. It gives each stream record to a handler, in order,
// at least once. It stores its position in a table, so that another process can continue where this
// one stopped.
//
//   Follower follower = TRY(Follower::Open(tables, runtime,
//                                          {.consumer = "search", .table = "messages"}));
//   while (running) {
//     const auto index = [&](const StreamRecord& record) { return Index(record); };
//     FollowReply reply = TRY(follower.Step(index));
//     if (!reply.held || reply.caught_up) Wait();
//   }
//   follower.Stop();
//
// Any number of followers with the same name may run. One at a time holds the lease and does the
// work; another one takes over when the lease has ended. A record is delivered again if the
// position after it was not stored, so handlers must be idempotent. The row that keeps lease and
// position is described in docs/formats/consumers.md.
//
// A follower belongs to one thread. It has no thread of its own, and waits only for the few
// milliseconds between two tries of a write. It never skips a record that its handler refused, and
// never begins a record without a valid lease.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/runtime.h"
#include "tables/conditional_writer.h"
#include "tables/stream_reader.h"
#include "tables/tables.h"

namespace tidemark::tables {

struct FollowerOptions {
  std::string consumer;
  std::string table;  // The table that is followed.
  std::string state_table = "tidemark-consumers";
  int64_t lease_seconds = 30;  // Longer than any one record takes to handle.
  size_t page = 100;           // Records handled between two stored positions, at most.
};

struct FollowReply {
  bool held = false;       // We still hold the lease. False: another follower has or had it.
  size_t handled = 0;      // Records that the handler accepted in this step.
  bool caught_up = false;  // Nothing was left to read.
  // Records may have been lost: they were trimmed before they were read. Such a step handles no
  // record, so that the gap is reported even if the next record is refused.
  bool gap = false;
};

class Follower {
 public:
  using Handler = std::function<Status(const StreamRecord&)>;

  // Creates the state table if it is missing. Takes no lease yet. The tables outlive the follower.
  static Result<Follower> Open(Tables& tables, const Runtime& runtime, FollowerOptions options);

  // Takes or keeps the lease, handles up to a page of records, and stores the position. Fails
  // with the handler's error, naming the record, when it refuses one: that record is the first
  // of the next step. Fails with kInvalid when the consumer's row belongs to another table.
  Result<FollowReply> Step(const Handler& handler);

  // The greatest possible lag of the consumer, also after a failed step: the age of the refused
  // record, or else of the newest handled one. 0 when it has caught up, or when another follower
  // does the work.
  int64_t LagSeconds() const;

  // Gives the lease back, so that another follower need not wait for its end. The position stays.
  Status Stop();

 private:
  // The consumer's row.
  struct State {
    std::string owner;
    int64_t generation = 0;  // Raised by every write; 0: there is no row yet.
    EpochSeconds lease_end = 0;
    StreamPosition position;
    EpochSeconds record_at = 0;  // The time of the last handled record.
    int64_t gaps = 0;
  };

  Follower(Tables& tables, const Runtime& runtime, FollowerOptions options);

  Result<bool> HoldLease();
  Result<State> Load() const;
  Result<bool> Store(const State& current, State next);
  bool IsRefusedGone(const StreamPage& page) const;
  bool IsLeaseLive() const;
  bool IsRenewalDue() const;
  EpochSeconds NewLeaseEnd() const { return clock_->NowSeconds() + options_.lease_seconds; }
  Status Handle(const StreamPage& page, const Handler& handler, State* next, size_t* handled);

  item::Item Encode(const State& state) const;
  Result<State> Decode(const item::Item& row) const;

  Tables* tables_;
  const Clock* clock_;
  std::unique_ptr<ConditionalWriter> writer_;  // A follower can be moved, and a writer cannot.
  FollowerOptions options_;
  std::string nonce_;  // Identifies this follower; never used by another one.
  StreamReader reader_;
  std::optional<State> state_;  // As we last wrote it; nullopt when we do not hold the lease.
  // The lease's end on the monotonic clock, which an administrator cannot set back.
  std::chrono::nanoseconds lease_deadline_{0};
  EpochSeconds reached_;  // All records that are older than this were handled.
  // The record that follows a position, and was refused by the last step.
  struct Refused {
    StreamPosition position;
    std::string sequence;
  };
  std::optional<Refused> refused_;
};

}  // namespace tidemark::tables
