// The Engine makes decisions about accounts and writes them: it loads the rows of a subject, lets a
// rule decide, and writes what that changed on the condition that nobody else wrote meanwhile;
// otherwise it begins anew. When a reply was lost, the next round finds what was written.
//
//   Decision decision = TRY(engine.Change(subject, [&](Account* account) -> Result<Decision> {
//     return Reserve(policy, action, id, account);
//   }));
//
// May be called from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/attempts/account.h"
#include "apps/attempts/attempts.h"
#include "apps/attempts/rules.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::attempts {

class Engine {
 public:
  Engine(AttemptsOptions options, const Policy* policy, tables::Tables* tables, const Clock* clock,
         Random* random, const Logger* logger, Metrics* metrics);

  Status CreateTable();
  Result<Account> Load(const Subject& subject);

  // The rule gets an account and gives a Result or Status. It may be asked several times.
  template <typename Rule>
  auto Change(const Subject& subject, const Rule& decide) -> decltype(decide(nullptr)) {
    Progress progress;
    return Continue(subject, decide, &progress);
  }
  // The same without waiting for the first write, which is the only one unless somebody else
  // changes the account meanwhile.
  template <typename Reply>
  void Change(const Subject& subject, std::function<Result<Reply>(Account*)> decide,
              Later<Reply> done);

  // kInvalid when the name is not known or has no rule.
  Result<Action> ActionOf(const Account& account, const ReserveRequest& request) const;
  // kInvalid when the name is not known. Different types of methods are counted apart.
  Result<Name> NameOf(const Name& name, const std::string& notification_type,
                      const std::string& method_type) const;
  // Both in as many writes as it takes.
  Status ClearCounts(const Subject& subject);
  Status FinishJourney(const Subject& subject, const std::string& journey);
  void Warn(std::string_view message, const std::string& sort_key) const;
  std::string LaneOf(const Subject& subject, const std::string& device) const;
  std::string NewId();
  Result<Decision> Counted(Result<Decision> decision);

  const AttemptsOptions& options() const { return options_; }

 private:
  // What one round would write.
  struct Draft {
    Account account;
    std::string version;
  };
  // What a change has been through so far.
  struct Progress {
    int conflicts = 0;
    std::optional<Draft> lost = std::nullopt;  // Written without a reply.
    bool told = false;                         // Of what was lost.
  };

  template <typename Rule>
  auto Continue(const Subject& subject, const Rule& decide, Progress* progress)
      -> decltype(decide(nullptr));
  // What is to be written after a decision; nullopt when that is nothing.
  std::optional<Draft> Drafted(Account account, Progress* progress);
  // How the change ended with this write; nullopt when it is to be made anew.
  std::optional<Status> Ended(Draft draft, const Result<bool>& written, Progress* progress);

  // False when somebody else wrote since the account was loaded.
  Result<bool> Write(const Draft& draft);
  void Submit(const Draft& draft, std::function<void(Result<bool>)> done);
  // What is about to be lost is told before it is, and all of it once it is done.
  void TellAhead(const Account& account) const;
  void Tell(const Account& account) const;
  void Log(const Account& account, const AuditEvent& event, const std::string& what) const;

  const AttemptsOptions options_;
  const Policy& policy_;
  tables::Tables& tables_;
  const Clock& clock_;
  Random& random_;
  const Logger* const logger_;
  std::map<Verdict, Counter*> decisions_;
  Counter* locks_ = nullptr;  // May be null, like the next.
  Counter* conflicts_ = nullptr;
};

template <typename Rule>
auto Engine::Continue(const Subject& subject, const Rule& decide, Progress* progress)
    -> decltype(decide(nullptr)) {
  for (;;) {
    Account account = TRY(Load(subject));
    auto reply = decide(&account);
    if (!reply) return reply;
    auto draft = Drafted(std::move(account), progress);
    if (!draft) return reply;
    const Result<bool> written = Write(*draft);
    if (const auto end = Ended(*std::move(draft), written, progress)) {
      if (!*end) return end->error();
      return reply;
    }
  }
}

template <typename Reply>
void Engine::Change(const Subject& subject, std::function<Result<Reply>(Account*)> decide,
                    Later<Reply> done) {
  struct Round {
    Subject subject;
    std::function<Result<Reply>(Account*)> decide;
    Later<Reply> done;
    Result<Reply> reply;
    Draft draft;
    Progress progress;
  };
  Result<Account> account = Load(subject);
  if (!account) return done(Result<Reply>(account.error()));
  Result<Reply> reply = decide(&*account);
  if (!reply) return done(std::move(reply));
  Progress progress;
  auto draft = Drafted(*std::move(account), &progress);
  if (!draft) return done(std::move(reply));
  auto round = std::make_shared<Round>(
      Round{subject, std::move(decide), std::move(done), std::move(reply), *std::move(draft), {}});
  Submit(round->draft, [this, round](const Result<bool>& written) {
    const auto end = Ended(std::move(round->draft), written, &round->progress);
    if (end) return round->done(*end ? std::move(round->reply) : Result<Reply>(end->error()));
    round->done(std::function<Result<Reply>()>(
        [this, round] { return Continue(round->subject, round->decide, &round->progress); }));
  });
}

}  // namespace tidemark::attempts
