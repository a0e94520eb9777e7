// The Engine makes decisions about accounts and writes them. One round loads the rows of a subject,
// lets a rule decide, and writes the change on the condition that no other writer changed the
// subject since the load. When another writer did, or when the reply to the write was lost, the
// next round begins with a new load. Rules find their own attempt by its id, so a change that was
// written without a reply is not made twice.
//
//   Decision decision = TRY(engine.Change(subject, [&](Account* account) -> Result<Decision> {
//     return Reserve(policy, action, id, account);
//   }));
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/attempts/account.h"
#include "apps/attempts/account_store.h"
#include "apps/attempts/attempts.h"
#include "apps/attempts/author.h"
#include "apps/attempts/rules.h"
#include "base/later.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/worker_pool.h"
#include "tables/plan_again.h"

namespace tidemark::attempts {

class Engine {
 public:
  // Policy and store outlive this.
  Engine(const Policy* policy, AccountStore* store, const Runtime& runtime);

  bool BeginsWithoutBlocking() const { return store_.SubmitsWithoutBlocking(); }
  Result<Account> Load(const Subject& subject);
  // Does not block.
  Later<Account> SubmitLoad(const Subject& subject);

  // `decide` gets an account, may change it, and returns a Result or Status. It is called once in
  // each round. The audit log says by whom the change is. Blocks.
  template <typename Decide>
  auto Change(const Subject& subject, const Decide& decide, const Author& by = {})
      -> decltype(decide(nullptr)) {
    Progress progress{.by = by};
    const auto began = runtime_.clock.Monotonic();
    auto reply = RunRounds(subject, decide, &progress);
    Measure(began, reply ? nullptr : &reply.error());
    return reply;
  }
  // The same for a caller that does not wait for the disk. The first round waits for its reads and
  // its write without a thread. Usually it is the only round. All further ones block, so they run
  // on one of the workers. `decide` may be called on a thread of the store and must not block.
  template <typename Reply>
  Later<Reply> Change(const Subject& subject, std::function<Result<Reply>(Account*)> decide,
                      WorkerPool* workers, Author by) {
    const auto began = runtime_.clock.Monotonic();
    return BeginRounds(subject, std::move(decide), workers, Progress{.by = std::move(by)})
        .Then([this, began](Result<Reply> reply) {
          Measure(began, reply ? nullptr : &reply.error());
          return reply;
        });
  }

  // kInvalid when the policy does not know the name or has no rule for it.
  Result<Action> ActionOf(const Account& account, const ReserveRequest& request) const;
  // The same without a lane, before the account is loaded.
  Result<Action> ActionOf(const ReserveRequest& request) const;
  // kInvalid when the policy does not know the name. A name without a method gets the type of the
  // method in its place, so that different types are counted separately.
  Result<Name> NameOf(const Name& name, const std::string& notification_type,
                      const std::string& method_type) const;
  // Both make as many writes as they need: one write has room for a hundred rows.
  Status ClearCounts(const Subject& subject, const Author& by);
  Status FinishJourney(const Subject& subject, const std::string& journey, const Author& by);
  // Attempts::TakeOver.
  Status TakeOver(const Subject& from, const Subject& to, const Author& by);
  void Warn(std::string_view message, const std::string& sort_key) const;
  std::string LaneOf(const Subject& subject, const std::string& device) const;
  // The lane of the device for this classifier; empty when it has none.
  std::string KnownLaneOf(const Account& account, const std::string& classifier,
                          const std::string& device) const;
  std::string NewId();
  // Counts the verdict for the metrics, and returns the decision unchanged.
  Result<Decision> CountVerdict(Result<Decision> decision);

 private:
  // How often a decision is made again because another request changed the account first. Each time
  // another request succeeded, and the limits let only few succeed, so the bound is far away. The
  // pauses are short: a person waits.
  static constexpr RetryPolicy kRounds = {.max_retries = 255,
                                          .first_wait = std::chrono::milliseconds(1),
                                          .longest_wait = std::chrono::milliseconds(8),
                                          .jitter = 1};

  // What one round writes.
  struct Draft {
    Account account;
    AccountChange change;
  };
  // What happened in the rounds of one change so far.
  struct Progress {
    Author by = {};
    std::optional<Draft> lost = std::nullopt;  // Written without a reply; it may be stored.
    bool lost_is_audited = false;
  };

  template <typename Decide>
  auto RunRounds(const Subject& subject, const Decide& decide, Progress* progress)
      -> decltype(decide(nullptr));
  // The first round, without waiting; the further ones on a worker.
  template <typename Reply>
  Later<Reply> BeginRounds(const Subject& subject, std::function<Result<Reply>(Account*)> decide,
                           WorkerPool* workers, Progress progress);
  template <typename Reply>
  Later<Reply> WriteFirst(Result<Account> loaded, std::function<Result<Reply>(Account*)> decide,
                          WorkerPool* workers, Progress progress);
  // Counts a change for the metrics. `error` is null if it succeeded.
  void Measure(std::chrono::nanoseconds began, const Error* error);
  // The write for what `decide` changed; nullopt when it changed nothing.
  std::optional<Draft> DraftWrite(Account account, Progress* progress);
  // True when the write was applied, and the change is complete. False: another round is needed.
  // An error ends the change.
  Result<bool> FinishWrite(Draft draft, const Result<bool>& written, Progress* progress);

  static Error TooManyRounds();

  Result<Account> DecodeAccount(const Subject& subject,
                                const Result<std::vector<item::Item>>& rows) const;
  // Events whose old value the write destroys are logged before it, and all events after it.
  void AuditAhead(const Account& account, const Author& by) const;
  void AuditDone(const Account& account, const Author& by) const;
  void Log(const Account& account, const AuditEvent& event, const std::string& what,
           const Author& by) const;

  const Policy& policy_;
  AccountStore& store_;
  const Runtime runtime_;
  std::map<Verdict, Counter*> decisions_;
  Counter& locks_;
  Counter& conflicts_;
  Counter& errors_;
  Histogram& seconds_;
};

template <typename Decide>
auto Engine::RunRounds(const Subject& subject, const Decide& decide, Progress* progress)
    -> decltype(decide(nullptr)) {
  tables::Rounds rounds(kRounds, runtime_);
  do {
    Account account = TRY(Load(subject));
    auto reply = decide(&account);
    if (!reply) return reply;
    auto draft = DraftWrite(std::move(account), progress);
    if (!draft) return reply;
    const Result<bool> written = store_.Write(draft->change);
    if (TRY(FinishWrite(*std::move(draft), written, progress))) return reply;
  } while (rounds.WaitForNext());
  return TooManyRounds();
}

template <typename Reply>
Later<Reply> Engine::BeginRounds(const Subject& subject,
                                 std::function<Result<Reply>(Account*)> decide, WorkerPool* workers,
                                 Progress progress) {
  return SubmitLoad(subject).Then([this, workers, decide = std::move(decide),
                                   progress = std::move(progress)](Result<Account> loaded) mutable {
    return WriteFirst(std::move(loaded), std::move(decide), workers, std::move(progress));
  });
}

template <typename Reply>
Later<Reply> Engine::WriteFirst(Result<Account> loaded,
                                std::function<Result<Reply>(Account*)> decide, WorkerPool* workers,
                                Progress progress) {
  Account account = TRY(std::move(loaded));
  Result<Reply> reply = decide(&account);
  if (!reply) return reply;
  auto draft = DraftWrite(std::move(account), &progress);
  if (!draft) return reply;
  // What is needed once the write is answered.
  struct Round {
    std::function<Result<Reply>(Account*)> decide;
    Result<Reply> reply;
    Draft draft;
    Progress progress;
  };
  auto round = std::make_shared<Round>(
      Round{std::move(decide), std::move(reply), *std::move(draft), std::move(progress)});
  return store_.Submit(round->draft.change)
      .Then([this, round, workers](const Result<bool>& written) -> Later<Reply> {
        const Subject subject = round->draft.change.subject;
        if (TRY(FinishWrite(std::move(round->draft), written, &round->progress))) {
          return std::move(round->reply);
        }
        // This is a thread of the store and must not block, and a new round does.
        return workers->Run(
            [this, round, subject] { return RunRounds(subject, round->decide, &round->progress); });
      });
}

}  // namespace tidemark::attempts
