#include "programs/attempts/actions.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/attempts/policy.h"
#include "base/json.h"
#include "http/url.h"
#include "programs/attempts/source.h"
#include "programs/data_folder.h"
#include "programs/output.h"
#include "servers/api/json_object.h"
#include "servers/api/service_options.h"

namespace tidemark::programs {

namespace {

using api::ObjectOf;
using http::Method;
using http::PercentEncode;

// ---- Requests ----

void WriteText(std::string_view name, const std::string& text, JsonWriter* writer) {
  if (text.empty()) return;
  writer->Key(name);
  writer->String(text);
}

// "/api/v1/subjects/{id}". The server first turns an address into its id, because paths are logged
// and an address must not be in a log.
Result<std::string> SubjectPath(ApiSource& source, const std::string& subject) {
  std::string id = subject;
  if (subject.find('@') != std::string::npos) {
    const JsonDocument identified = TRY(source.Send(
        {.method = Method::kPost,
         .path = "/api/v1/subjects/identify",
         .body = ObjectOf([&](JsonWriter* writer) { WriteText("email", subject, writer); })}));
    id = TextIn(identified.root(), "id");
  }
  return "/api/v1/subjects/" + PercentEncode(id);
}

// The body of a DELETE: why it is done.
std::string ReasonBody(const std::string& reason) {
  if (reason.empty()) return "";
  return ObjectOf([&](JsonWriter* writer) { WriteText("reason", reason, writer); });
}

// ---- Tables for people ----

std::string TimeOf(const Json& object) {
  const auto until = object.Find("until");
  const auto seconds = until ? until->AsInt() : std::nullopt;
  if (!seconds) return "no end";
  return FormatTime(*seconds);
}

// The method and the device that a row is for.
std::string PartOf(const Json& object) {
  const std::string method = CellOf(object, "method");
  const std::string lane = CellOf(object, "lane");
  if (lane.empty()) return method;
  return fmt::format("{}{}device {}", method, method.empty() ? "" : ", ", lane);
}

std::vector<Column> StandingColumns() {
  return {{"WHAT"}, {"JOURNEY"}, {"CLASSIFIER"}, {"OF"}, {"UNTIL (UTC)"}, {"NOTES", 60}};
}

Cells LockCells(const Json& lock) {
  const std::string reason = CellOf(lock, "reason");
  return {"lock",
          CellOf(lock, "journey"),
          CellOf(lock, "classifier"),
          PartOf(lock),
          TimeOf(lock),
          fmt::format("{}{}{}", CellOf(lock, "kind"), reason.empty() ? "" : ": ", reason)};
}

Cells CountCells(const Json& count) {
  return {CellOf(count, "count") + " counted",
          CellOf(count, "journey"),
          CellOf(count, "classifier"),
          PartOf(count),
          TimeOf(count),
          fmt::format("{}, {} open", CellOf(count, "count_type"), CellOf(count, "under_way"))};
}

template <typename Take>
void ForEachIn(const Json& object, std::string_view list, const Take& take) {
  const auto values = object.Find(list);
  if (!values) return;
  for (const Json value : values->Elements()) take(value);
}

// The most serious first.
void PrintStanding(const Json& standing) {
  std::vector<Cells> rows;
  ForEachIn(standing, "state_details", [&](const Json& state) {
    rows.push_back({"state", "", CellOf(state, "state"), "", "no end", CellOf(state, "reason")});
  });
  ForEachIn(standing, "indefinitely_locked", [&](const Json& classifier) {
    rows.push_back({"ceiling", "", std::string(classifier.AsString().value_or("")), "", "no end",
                    "too many failures in a row: 'tidemark attempts unlock' lifts it"});
  });
  ForEachIn(standing, "locks", [&](const Json& lock) { rows.push_back(LockCells(lock)); });
  ForEachIn(standing, "counts", [&](const Json& count) { rows.push_back(CountCells(count)); });
  const std::string ceiling = CellOf(standing, "ceiling");
  ForEachIn(standing, "failures_in_a_row", [&](const Json& failed) {
    rows.push_back({"failures", "", CellOf(failed, "classifier"), PartOf(failed), "",
                    fmt::format("{} in a row; {} lock", CellOf(failed, "failures"), ceiling)});
  });
  ForEachIn(standing, "devices", [&](const Json& device) {
    std::string succeeded_at;
    ForEachIn(device, "succeeded_at", [&](const Json& classifier) {
      succeeded_at += fmt::format(" {}", classifier.AsString().value_or(""));
    });
    rows.push_back({"known device", "", "", PartOf(device), TimeOf(device),
                    fmt::format("has its own budget for{}", succeeded_at)});
  });
  if (rows.empty()) {
    PrintText("this subject has no counts, locks or states\n");
  } else {
    PrintText(FormatTable(StandingColumns(), rows));
  }
}

Status PrintSubject(ApiSource& source, const std::string& path, const OutputOptions& output) {
  const JsonDocument standing = TRY(source.Need(path));
  if (IsTable(output)) {
    PrintStanding(standing.root());
  } else {
    PrintLine(ToText(standing.root()));
  }
  return Done{};
}

bool IsAsked(const LockCommandOptions& options, const Json& lock) {
  const auto matches = [&](const std::string& asked, std::string_view member) {
    return asked.empty() || asked == TextIn(lock, member);
  };
  return matches(options.journey, "journey") && matches(options.classifier, "classifier");
}

std::string LockPath(const std::string& subject, const Json& lock) {
  return fmt::format("{}/locks/{}/{}?method={}&lane={}", subject,
                     PercentEncode(TextIn(lock, "journey")),
                     PercentEncode(TextIn(lock, "classifier")),
                     PercentEncode(TextIn(lock, "method")), PercentEncode(TextIn(lock, "lane")));
}

}  // namespace

Result<ExitCode> ShowAttempts(const AttemptsCommandOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kRead));
  const std::string subject = TRY(SubjectPath(*source, options.subject));
  TRY(PrintSubject(*source, subject, options.output));
  return ExitCode::kOk;
}

Result<ExitCode> LockSubject(const LockCommandOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.common.source, Use::kWrite));
  const std::string subject = TRY(SubjectPath(*source, options.common.subject));
  const JsonDocument answer =
      TRY(source->Send({.method = Method::kPost,
                        .path = subject + "/locks",
                        .body = ObjectOf([&](JsonWriter* writer) {
                          WriteText("journey", options.journey, writer);
                          WriteText("classifier", options.classifier, writer);
                          WriteText("method", options.method, writer);
                          WriteText("kind", options.kind, writer);
                          WriteText("reason", options.reason, writer);
                          if (!options.seconds) return;
                          writer->Key("seconds");
                          writer->Int(*options.seconds);
                        })}));
  Printer printer(options.common.output, StandingColumns(), LockCells);
  if (const auto lock = answer.root().Find("lock")) printer.Print(*lock);
  return ExitCode::kOk;
}

Result<ExitCode> UnlockSubject(const LockCommandOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.common.source, Use::kWrite));
  const std::string subject = TRY(SubjectPath(*source, options.common.subject));
  const JsonDocument standing = TRY(source->Need(subject));
  size_t lifted = 0;
  Printer printer(options.common.output, StandingColumns(), LockCells);
  const auto locks = standing.root().Find("locks");
  for (const Json lock : locks->Elements()) {
    if (!IsAsked(options, lock)) continue;
    TRY(source->Send({.method = Method::kDelete,
                      .path = LockPath(subject, lock),
                      .body = ReasonBody(options.reason)}));
    printer.Print(lock);
    ++lifted;
  }
  // Failures in a row do not belong to a journey, so they are lifted only when none is named.
  if (options.journey.empty()) {
    TRY(source->Send({.method = Method::kDelete,
                      .path = subject + "/ceiling",
                      .body = ReasonBody(options.reason)}));
    // Also below the ceiling: together with those of the person's other ids they may reach it.
    const auto failures = standing.root().Find("failures_in_a_row");
    lifted += failures ? failures->Size() : 0;
  }
  if (lifted > 0) return ExitCode::kOk;
  PrintMessage(fmt::format("tidemark: '{}' has no {}; 'tidemark attempts show' shows what it has",
                           options.common.subject, options.journey.empty() ? "lock" : "such lock"));
  return ExitCode::kNotMet;
}

namespace {

Cells LockedCells(const Json& subject) {
  std::vector<std::string> locks;
  ForEachIn(subject, "locks", [&](const Json& lock) {
    locks.push_back(fmt::format("{} {} until {}", CellOf(lock, "journey"),
                                CellOf(lock, "classifier"), TimeOf(lock)));
  });
  ForEachIn(subject, "indefinitely_locked", [&](const Json& classifier) {
    locks.push_back(fmt::format("ceiling of {}", classifier.AsString().value_or("")));
  });
  return {CellOf(subject, "id"), fmt::format("{}", fmt::join(locks, "; "))};
}

// Asks for page after page, with the cursor of each, and prints them. Returns how many subjects
// there were.
template <typename Ask>
Result<size_t> PrintLocked(const OutputOptions& output, const Ask& ask) {
  Printer printer(output, {{"SUBJECT", 80}, {"LOCKED", 120}}, LockedCells);
  size_t count = 0;
  std::string cursor;
  do {
    const JsonDocument page = TRY(ask(cursor));
    ForEachIn(page.root(), "subjects", [&](const Json& subject) {
      printer.Print(subject);
      ++count;
    });
    cursor = TextIn(page.root(), "next");
  } while (!cursor.empty());
  return count;
}

}  // namespace

Result<ExitCode> ListLocked(const LockedCommandOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kRead));
  TRY(PrintLocked(options.output, [&](const std::string& cursor) {
    return source->Need("/api/v1/attempts/locked?cursor=" + PercentEncode(cursor));
  }));
  return ExitCode::kOk;
}

namespace {

// For an unlock-all that lifted nothing: what it looked for, and which locks it never lifts.
std::string DescribeNoMatch(const LockedCommandOptions& options) {
  std::string looked_for = fmt::format("since {}", options.since);
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty()) looked_for += fmt::format(", {} {}", word, value);
  };
  add("until", options.until);
  add("of the journey", options.journey);
  add("of the classifier", options.classifier);
  return fmt::format(
      "tidemark: nothing was lifted: there is no live lock that a rule has set {}. unlock-all "
      "never lifts permanent locks and locks that a person has set. To lift locks of sources, add "
      "--journey SOURCE; to lift ceilings, add --ceiling. 'tidemark attempts locked' lists "
      "everybody who is locked",
      looked_for);
}

}  // namespace

Result<ExitCode> UnlockAll(const LockedCommandOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const size_t lifted = TRY(PrintLocked(options.output, [&](const std::string& cursor) {
    return source->Send({.method = Method::kPost,
                         .path = "/api/v1/attempts/unlock",
                         .body = ObjectOf([&](JsonWriter* writer) {
                           WriteText("since", options.since, writer);
                           WriteText("until", options.until, writer);
                           WriteText("journey", options.journey, writer);
                           WriteText("classifier", options.classifier, writer);
                           WriteText("reason", options.reason, writer);
                           WriteText("cursor", cursor, writer);
                           writer->Key("ceiling");
                           writer->Bool(options.ceiling);
                         })});
  }));
  if (lifted > 0) return ExitCode::kOk;
  PrintMessage(DescribeNoMatch(options));
  return ExitCode::kNotMet;
}

Result<ExitCode> ChangeState(const StateCommandOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.common.source, Use::kWrite));
  const std::string subject = TRY(SubjectPath(*source, options.common.subject));
  const std::string path = subject + "/states";
  if (options.clear) {
    TRY(source->Send({.method = Method::kDelete,
                      .path = path + "/" + PercentEncode(options.state),
                      .body = ReasonBody(options.reason)}));
  } else {
    TRY(source->Send(
        {.method = Method::kPost, .path = path, .body = ObjectOf([&](JsonWriter* writer) {
                                                  WriteText("state", options.state, writer);
                                                  WriteText("reason", options.reason, writer);
                                                })}));
  }
  TRY(PrintSubject(*source, subject, options.common.output));
  return ExitCode::kOk;
}

Result<ExitCode> ShowOdds(const PolicyCommandOptions& options) {
  const Settings settings = TRY(LoadSettings(options.folder));
  const attempts::Policy policy = TRY(api::ReadAttemptsOptions(settings)).policy;
  constexpr const char* kBetween = "odds_between_successes";
  constexpr const char* kYearly = "odds_a_year";
  Printer printer(
      options.output,
      {{"RULE", 80}, {"GUESSES BETWEEN SUCCESSES"}, {"ODDS"}, {"GUESSES A YEAR"}, {"ODDS A YEAR"}},
      [&](const Json& odds) {
        const auto number = [&](std::string_view name) { return *odds.Find(name)->AsDouble(); };
        return Cells{CellOf(odds, "rule"),
                     fmt::format("{:.0f}", number("guesses_between_successes")),
                     fmt::format("{:.3g}", number(kBetween)),
                     fmt::format("{:.0f}", number("guesses_a_year")),
                     fmt::format("{:.3g}", number(kYearly))};
      });
  for (const attempts::Odds& odds : policy.GuessOdds()) {
    const std::string line = ObjectOf([&](JsonWriter* writer) {
      const auto write = [&](std::string_view name, double number) {
        writer->Key(name);
        writer->Double(number);
      };
      WriteText("rule", odds.rule, writer);
      write("guesses_between_successes", odds.guesses_between_successes);
      write(kBetween, odds.between_successes);
      write("guesses_a_year", odds.guesses_a_year);
      write(kYearly, odds.a_year);
    });
    printer.Print(TRY(JsonDocument::Parse(line)).root());
  }
  const attempts::OddsBounds bounds = TRY(api::ReadOddsBounds(settings));
  const auto checked = CheckOdds(policy, bounds);
  if (checked) return ExitCode::kOk;
  PrintMessage(fmt::format("tidemark: {}", checked.error().message));
  return ExitCode::kNotMet;
}

Result<ExitCode> PrintPolicy(const PolicyCommandOptions&) {
  PrintText(attempts::Policy::DefaultText());
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
