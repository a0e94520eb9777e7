#include "programs/attempts/commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/attempts/actions.h"
#include "programs/attempts/migrate_commands.h"

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
      {"show", "Show the counts, locks and states of a subject",
       "tidemark attempts show ann --server http://127.0.0.1:8080 --token-file token"},
      action, &ShowAttempts);
  AddSubject(*command, *options);
  AddCommon(*command, *options);
}

void AddLockName(CLI::App& command, LockCommandOptions& options) {
  command.add_option("journey", options.journey, "The journey, such as SIGN_IN")->required();
  command.add_option("classifier", options.classifier, "The classifier, such as PASSWORD_RESET")
      ->required();
  command.add_option("--method", options.method, "Only this method");
}

void AddLock(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<LockCommandOptions>(
      parent,
      {"lock", "Lock a subject out of a journey; an existing lock keeps its end",
       "tidemark attempts lock ann SIGN_IN PASSWORD_RESET --seconds 3600 --reason 'ticket 7'"},
      action, &LockSubject);
  AddSubject(*command, options->common);
  AddLockName(*command, *options);
  command->add_option("--kind", options->kind, "STANDARD, REDUCED or PERMANENT")
      ->capture_default_str();
  command->add_option("--seconds", options->seconds,
                      "How long; the default is the length in the policy");
  command->add_option("--reason", options->reason, "Stored with the lock, and in the audit log");
  AddCommon(*command, options->common);
}

void AddUnlock(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<LockCommandOptions>(
      parent,
      {"unlock", "Lift locks, the counts that led to them, and the ceiling of failures in a row",
       "tidemark attempts unlock ann"},
      action, &UnlockSubject);
  AddSubject(*command, options->common);
  CLI::Option* journey = command->add_option("journey", options->journey,
                                             "Only the locks of this journey; the default is all");
  command->add_option("classifier", options->classifier, "Only the locks of this classifier")
      ->needs(journey);
  command->add_option("--reason", options->reason, "For the audit log");
  AddCommon(*command, options->common);
}

void AddLocked(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<LockedCommandOptions>(
      parent, {"locked", "List all subjects that are locked", "tidemark attempts locked"}, action,
      &ListLocked);
  AddOutput(*command, options->output);
  AddSource(*command, options->source);
}

void AddUnlockAll(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<LockedCommandOptions>(
      parent,
      {"unlock-all",
       "After an attack: lift the locks that wrong tries have set within a time; locks that a "
       "person has set stay",
       "tidemark attempts unlock-all --since 2026-11-18T07:00:00Z --reason 'ticket 7'"},
      action, &UnlockAll);
  command->add_option("--since", options->since, "Only locks that were set at this time or later")
      ->required();
  command->add_option("--until", options->until, "Only locks that were set at this time or before");
  command->add_option("--journey", options->journey, "Only locks of this journey");
  command->add_option("--classifier", options->classifier, "Only locks of this classifier");
  command->add_flag("--ceiling", options->ceiling,
                    "Lift the ceiling of failures in a row too, whenever it was reached");
  command->add_option("--reason", options->reason, "For the audit log")->required();
  AddOutput(*command, options->output);
  AddSource(*command, options->source);
}

void AddState(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<StateCommandOptions>(
      parent,
      {"state", "Set or clear a state of an account; a state stays until it is cleared",
       "tidemark attempts state ann SUSPENDED --reason 'ticket 7'"},
      action, &ChangeState);
  AddSubject(*command, options->common);
  command
      ->add_option("state", options->state,
                   "BLOCKED, SUSPENDED, RESET_PASSWORD or REPROVE_IDENTITY")
      ->required();
  command->add_flag("--clear", options->clear, "Clear the state");
  command->add_option("--reason", options->reason, "Stored with the state, and in the audit log");
  AddCommon(*command, options->common);
}

void AddOdds(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<PolicyCommandOptions>(
      parent,
      {"odds", "Show how likely it is that guessing succeeds; exit 1 if it is above the limit",
       "tidemark attempts odds"},
      action, &ShowOdds);
  AddOutput(*command, options->output);
  AddFolder(*command, options->folder);
}

void AddPolicy(CLI::App& parent, Action* action) {
  AddCommand<PolicyCommandOptions>(parent,
                                   {"policy", "Print the built-in policy, to start your own from",
                                    "tidemark attempts policy > policy.json"},
                                   action, &PrintPolicy);
}

}  // namespace

void AddAttemptsCommands(CLI::App& program, Action* action) {
  CLI::App* group = AddGroup(program, "attempts",
                             "Show and change counts, locks and states of people who sign in");
  for (auto add :
       {AddShow, AddLock, AddUnlock, AddLocked, AddUnlockAll, AddState, AddOdds, AddPolicy}) {
    add(*group, action);
  }
  AddAttemptsMigrateCommands(*group, action);
}

}  // namespace tidemark::programs
