// Follower is a consumer of a table's changes. It hands each stream record to a handler, in
// order, at least once, and keeps its position in a table, so that another process can go on
// where this one stopped.
//
//   Follower follower = TRY(Follower::Open(tables, clock, random,
//                                          {.consumer = "search", .table = "messages"}));
//   while (running) {
//     FollowReply reply = TRY(follower.Step([&](const StreamRecord& record) { return Index(record);
//     })); if (!reply.held || reply.caught_up) Wait();
//   }
//   follower.Stop();
//
// Any number of followers of one name may run; one at a time holds the lease and does the
// work, and another takes over once its lease has ended. A record whose handling was not followed
// by a stored position is delivered again, so handlers are idempotent. The row that keeps lease
// and position is described in docs/formats/consumers.md.
//
// A follower belongs to one thread; it has none of its own and never waits. It never skips a
// record that its handler refused, and never starts to handle one without a live lease.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "tables/stream_reader.h"
#include "tables/tables.h"

namespace tidemark::tables {

struct FollowerOptions {
  std::string consumer;
  std::string table;  // The one that is followed.
  std::string state_table = "tidemark-consumers";
  int64_t lease_seconds = 30;  // Longer than any one record takes to handle.
  size_t page = 100;           // Records handled between two stored positions, at most.
};

struct FollowReply {
  bool held = false;   // We hold the lease still. If not, another follower does, or did meanwhile.
  size_t handled = 0;  // Records the handler accepted in this step.
  bool caught_up = false;  // Nothing was left to read.
  // Records may have been lost: they were trimmed before they were read. Such a step handles
  // nothing, so that this is told whatever becomes of the records behind.
  bool gap = false;
};

class Follower {
 public:
  using Handler = std::function<Status(const StreamRecord&)>;

  // Makes the state table if it is missing. Takes no lease yet. All that is given by reference
  // must outlive the follower.
  static Result<Follower> Open(Tables& tables, const Clock& clock, Random& random,
                               FollowerOptions options);

  // Takes or keeps the lease, handles up to a page of records, and stores the position. Fails
  // with the handler's error, naming the record, when it refuses one: that record is the first
  // of the next step. Fails with kInvalid when the consumer's row belongs to another table.
  Result<FollowReply> Step(const Handler& handler);

  // How far behind the consumer is at most, as far as is known, also after a step that failed: the
  // age of the record that was refused, or else of the newest one handled; 0 when it is caught up,
  // or another does the work.
  int64_t LagSeconds() const;

  // Gives the lease back, so that another need not wait for its end. The position stays.
  Status Stop();

 private:
  // The consumer's row.
  struct State {
    std::string owner;
    int64_t generation = 0;  // Raised by every write; 0: there is no row yet.
    EpochSeconds lease_end = 0;
    StreamPosition position;
    EpochSeconds record_at = 0;  // When the last record handled was made.
    int64_t gaps = 0;
  };

  Follower(Tables& tables, const Clock& clock, Random& random, FollowerOptions options);

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
  FollowerOptions options_;
  std::string nonce_;  // Names this follower among all that ever were.
  StreamReader reader_;
  std::optional<State> state_;  // As we last wrote it; nullopt when we do not hold the lease.
  // The lease's end on the monotonic clock, which an administrator cannot set back.
  std::chrono::nanoseconds lease_deadline_{0};
  EpochSeconds reached_;  // What is older than this was handled, as far as is known.
  // The record that follows a position, and was refused by the last step.
  struct Refused {
    StreamPosition position;
    std::string sequence;
  };
  std::optional<Refused> refused_;
};

}  // namespace tidemark::tables
