#include "programs/documents/upkeep.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/fsck.h"
#include "base/json.h"
#include "base/replace_file.h"
#include "http/url.h"
#include "programs/documents/source.h"
#include "programs/interruption.h"
#include "programs/output.h"
#include "programs/progress.h"

namespace tidemark::programs {

namespace {

using http::Method;
using http::PercentEncode;

constexpr std::string_view kCache = "/api/v1/document-cache";
// A run that does not advance in this many pieces is given up.
constexpr int kMaxIdlePieces = 5;

// ---- The checkpoint file, which has one line ----

Error CannotUseFile(const std::string& path) {
  return Invalid(fmt::format(
      "the checkpoint file '{}' cannot be read and written: name another one with --checkpoint",
      path));
}

// Returns an empty text when there is no file.
Result<std::string> ReadCheckpoint(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::string();
  std::ifstream file(path);
  std::string checkpoint;
  if (!std::getline(file, checkpoint)) return CannotUseFile(path);
  return checkpoint;
}

Status WriteCheckpoint(const std::string& path, const std::string& checkpoint) {
  return ReplaceFile(path, checkpoint + "\n");
}

Status RemoveCheckpoint(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return CannotUseFile(path);
  return Done{};
}

// ---- Runs, piece by piece ----

// The sums over all pieces of a run.
struct RunTotals {
  std::map<std::string, int64_t, std::less<>> counts = {};
  bool is_finished = false;
  bool is_marked = false;
  std::string checkpoint = {};

  int64_t Count(std::string_view name) const {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }
};

class PiecewiseRun {
 public:
  using Look = std::function<void(const Json& piece)>;

  // `run` is the name of its route. `look` gets the reply of each piece. The options outlive this.
  PiecewiseRun(const DocumentsRunOptions& options, std::string run, Look look)
      : options_(options), run_(std::move(run)), look_(std::move(look)) {}

  // Runs to the end, or until Ctrl-C. Once something was done, an error says how to continue.
  Result<RunTotals> Run() {
    totals_.checkpoint = options_.from;
    if (!options_.checkpoint_file.empty()) {
      totals_.checkpoint = TRY(ReadCheckpoint(options_.checkpoint_file));
    }
    const Interruption interruption;
    source_ = TRY(OpenDocumentsSource(options_.source, {.rate = options_.rate}));
    const Progress progress(options_.source.folder.progress,
                            [this] { return fmt::format("{} checked", checked_.load()); });
    while (!totals_.is_finished && !interruption.IsAsked()) {
      if (Status done = DoPiece(); !done) return WithHint(std::move(done).error());
    }
    return std::move(totals_);
  }

  static std::string HowToContinue(const DocumentsRunOptions& options, const RunTotals& totals) {
    if (!options.checkpoint_file.empty()) return "to continue, run the same command again";
    if (totals.checkpoint.empty()) return "nothing was done yet";
    return fmt::format("to continue, add --from '{}'", totals.checkpoint);
  }

 private:
  std::string Path() const {
    std::string path = fmt::format("{}/{}?dry_run={}", kCache, run_, options_.dry_run);
    for (const auto& [name, value] :
         {std::pair("since", &options_.since), std::pair("until", &options_.until),
          std::pair("customer", &options_.customer),
          std::pair("checkpoint", &totals_.checkpoint)}) {
      if (!value->empty()) path += fmt::format("&{}={}", name, PercentEncode(*value));
    }
    return path;
  }

  Status DoPiece() {
    const JsonDocument answer = TRY(source_->Send({.method = Method::kPost, .path = Path()}));
    const Json piece = answer.root();
    for (const auto& [name, value] : piece.Members()) {
      if (const auto count = value.AsInt()) totals_.counts[std::string(name)] += *count;
    }
    checked_ = totals_.Count("checked");
    look_(piece);
    totals_.is_finished = IsTrueIn(piece, "finished");
    totals_.is_marked = IsTrueIn(piece, "marked");
    return Remember(TextIn(piece, "checkpoint"));
  }

  Status Remember(std::string checkpoint) {
    const std::string& file = options_.checkpoint_file;
    if (totals_.is_finished) return file.empty() ? Status(Done{}) : RemoveCheckpoint(file);
    idle_pieces_ = checkpoint == totals_.checkpoint ? idle_pieces_ + 1 : 0;
    totals_.checkpoint = std::move(checkpoint);
    if (idle_pieces_ == kMaxIdlePieces) {
      return Error{ErrorCode::kUnavailable,
                   "the run does not advance: check that the table and the objects can be reached"};
    }
    return file.empty() ? Status(Done{}) : WriteCheckpoint(file, totals_.checkpoint);
  }

  Error WithHint(Error error) const {
    if (checked_ > 0) error.message += "; " + HowToContinue(options_, totals_);
    return error;
  }

  const DocumentsRunOptions& options_;
  const std::string run_;
  const Look look_;
  RunTotals totals_;
  std::atomic<int64_t> checked_ = 0;
  int idle_pieces_ = 0;
  std::unique_ptr<ApiSource> source_;
};

ExitCode Conclude(const DocumentsRunOptions& options, const RunTotals& totals, bool is_good) {
  if (totals.is_finished) return is_good ? ExitCode::kOk : ExitCode::kNotMet;
  PrintMessage(
      fmt::format("tidemark: interrupted; {}", PiecewiseRun::HowToContinue(options, totals)));
  return ExitCode::kNotMet;
}

std::string ToJson(const RunTotals& totals, std::string_view proof) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  for (const auto& [name, count] : totals.counts) {
    writer.Key(name);
    writer.Int(count);
  }
  if (!proof.empty()) {
    writer.Key("proof");
    writer.String(proof);
  }
  writer.Key("finished");
  writer.Bool(totals.is_finished);
  writer.Key("marked");
  writer.Bool(totals.is_marked);
  writer.EndObject();
  return text;
}

std::string ProofOf(const RunTotals& totals) {
  const auto count = [&](std::string_view name) { return static_cast<size_t>(totals.Count(name)); };
  return documents::ProofLine({.checked = count("checked"),
                               .equal = count("equal"),
                               .repaired = count("repaired"),
                               .in_flight = count("in_flight"),
                               .differing = count("differing")});
}

void PrintFindings(const Json& piece, bool is_table) {
  const auto findings = piece.Find("findings");
  if (!findings) return;
  for (const Json finding : findings->Elements()) {
    if (!is_table) {
      PrintLine(ToText(finding));
      continue;
    }
    PrintText(fmt::format("{}: {}{}\n", Printable(TextIn(finding, "id")),
                          Printable(TextIn(finding, "what")),
                          IsTrueIn(finding, "repaired") ? "; repaired" : ""));
  }
}

std::string MarkLine(const RunTotals& totals) {
  return totals.is_marked ? "ranges rely on the cache from now on\n" : "";
}

// ---- The state of the cache ----

std::string CoverageOf(const Json& stats) {
  const auto from = stats.Find("complete_from");
  const auto as_of = stats.Find("as_of_ms");
  if (!from || !as_of) return "no run went over all objects yet: run 'tidemark documents backfill'";
  return fmt::format("all documents created since {}, as of {} (UTC)",
                     FormatTime(from->AsInt().value_or(0)),
                     FormatTime(as_of->AsInt().value_or(0) / 1000));
}

// Only a server runs long enough for its counts to say something.
std::string DescribeCounts(const Json& stats, bool is_server) {
  const auto counts = stats.Find("since_start");
  if (!counts || !is_server) return "only a server counts: ask it with --server URL";
  return fmt::format("{} operations, {} hits, {} misses, {} errors, {} throttled",
                     CellOf(*counts, "operations"), CellOf(*counts, "hits"),
                     CellOf(*counts, "misses"), CellOf(*counts, "errors"),
                     CellOf(*counts, "throttled"));
}

std::string Describe(const Json& stats, bool is_server) {
  return fmt::format(
      "items         {} ({} bytes)\n"
      "coverage      {}{}\n"
      "first writes  {} not ended\n"
      "repairs       {} noted\n"
      "since start   {}\n",
      CellOf(stats, "items"), CellOf(stats, "size_bytes"), CoverageOf(stats),
      is_server && !IsTrueIn(stats, "compared") ? "; being compared with the objects now" : "",
      CellOf(stats, "first_writes"), CellOf(stats, "repairs"), DescribeCounts(stats, is_server));
}

}  // namespace

Result<ExitCode> BackfillDocuments(const DocumentsRunOptions& options) {
  PiecewiseRun run(options, "backfill", [](const Json&) {});
  const RunTotals totals = TRY(run.Run());
  if (IsTable(options.output)) {
    PrintText(
        fmt::format("checked {}: {} {}, {} unchanged, {} skipped, {} not documents, {} failed\n{}",
                    totals.Count("checked"), totals.Count("cached"),
                    options.dry_run ? "would be cached" : "cached", totals.Count("unchanged"),
                    totals.Count("skipped"), totals.Count("invalid"), totals.Count("failed"),
                    MarkLine(totals)));
  } else {
    PrintLine(ToJson(totals, ""));
  }
  return Conclude(options, totals, totals.Count("failed") == 0);
}

Result<ExitCode> CheckDocuments(const DocumentsRunOptions& options) {
  const bool is_table = IsTable(options.output);
  PiecewiseRun run(options, "fsck",
                   [is_table](const Json& piece) { PrintFindings(piece, is_table); });
  const RunTotals totals = TRY(run.Run());
  const std::string proof = ProofOf(totals);
  if (is_table) {
    PrintText(fmt::format("{}\n{}", proof, MarkLine(totals)));
  } else {
    PrintLine(ToJson(totals, proof));
  }
  return Conclude(options, totals, totals.Count("differing") == 0);
}

Result<ExitCode> ShowDocumentsStats(const DocumentsStatsOptions& options) {
  const auto source = TRY(OpenDocumentsSource(options.source, DocumentsUpkeep{}));
  const JsonDocument stats = TRY(source->Need(std::string(kCache)));
  if (IsTable(options.output)) {
    PrintText(Describe(stats.root(), options.source.server.has_value()));
  } else {
    PrintLine(ToText(stats.root()));
  }
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
