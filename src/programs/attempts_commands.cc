#include "programs/attempts_commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/attempts_actions.h"
#include "programs/attempts_migrate_commands.h"

namespace tidemark::programs {

namespace {

void AddSubject(CLI::App& command, AttemptsCommandOptions& options) {
  command
      .add_option("subject", options.subject,
                  "The subject's id, pairwise~ID, session~ID, or an e-mail address")
      ->required();
}

void AddCommon(CLI::App& command, AttemptsCommandOptions& options) {
  AddOutput(command, options.output);
  AddSource(command, options.source);
}

void AddShow(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<AttemptsCommandOptions>(
      parent,
      {"show", "Show what stands against somebody: counts, locks and states",
       "tidemark attempts show ann --server http://127.0.0.1:8080 --token-file token"},
      action, &ShowAttempts);
  AddSubject(*command, *options);
  AddCommon(*command, *options);
}

void AddLockName(CLI::App& command, LockCommandOptions& options) {
  command.add_option("journey", options.journey, "The journey that it is for, such as SIGN_IN")
      ->required();
  command.add_option("classifier", options.classifier, "What of it, such as PASSWORD_RESET")
      ->required();
  command.add_option("--method", options.method, "One of several methods alone");
}

void AddLock(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<LockCommandOptions>(
      parent,
      {"lock", "Lock somebody out of a journey; a lock that is there is never moved",
       "tidemark attempts lock ann SIGN_IN PASSWORD_RESET --seconds 3600 --reason 'ticket 7'"},
      action, &LockSubject);
  AddSubject(*command, options->common);
  AddLockName(*command, *options);
  command->add_option("--kind", options->kind, "STANDARD, REDUCED or PERMANENT")
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "How long; without it as the policy says");
  command->add_option("--reason", options->reason, "Kept with the lock, and in the audit");
  AddCommon(*command, options->common);
}

void AddUnlock(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<LockCommandOptions>(
      parent,
      {"unlock", "Lift locks, the counts that led to them, and the ceiling of failures in a row",
       "tidemark attempts unlock ann"},
      action, &UnlockSubject);
  AddSubject(*command, options->common);
  CLI::Option* journey =
      command->add_option("journey", options->journey, "Of this journey alone; without it all");
  command->add_option("classifier", options->classifier, "Of this classifier alone")
      ->needs(journey);
  AddCommon(*command, options->common);
}

void AddState(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<StateCommandOptions>(
      parent,
      {"state", "Set or clear a state of an account, which stays until it is cleared",
       "tidemark attempts state ann SUSPENDED --reason 'ticket 7'"},
      action, &ChangeState);
  AddSubject(*command, options->common);
  command
      ->add_option("state", options->state,
                   "BLOCKED, SUSPENDED, RESET_PASSWORD or REPROVE_IDENTITY")
      ->required();
  command->add_flag("--clear", options->clear, "Clear it");
  command->add_option("--reason", options->reason, "Kept with the state, and in the audit");
  AddCommon(*command, options->common);
}

void AddOdds(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<PolicyCommandOptions>(
      parent,
      {"odds", "Show how likely guessing all year is to succeed; exit 1 when it is too likely",
       "tidemark attempts odds"},
      action, &ShowOdds);
  AddOutput(*command, options->output);
  AddFolder(*command, options->folder);
}

void AddPolicy(CLI::App& parent, Action* action) {
  AddCommand<PolicyCommandOptions>(
      parent,
      {"policy", "Print the policy that is built in, to begin one's own with",
       "tidemark attempts policy > policy.json"},
      action, &PrintPolicy);
}

}  // namespace

void AddAttemptsCommands(CLI::App& program, Action* action) {
  CLI::App* group =
      AddGroup(program, "attempts", "See and change what stands against somebody who signs in");
  for (auto add : {AddShow, AddLock, AddUnlock, AddState, AddOdds, AddPolicy}) {
    add(*group, action);
  }
  AddAttemptsMigrateCommands(*group, action);
}

}  // namespace tidemark::programs
