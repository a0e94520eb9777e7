#include "programs/tables/item_actions.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "item/json.h"
#include "programs/arguments.h"
#include "programs/context.h"
#include "programs/output.h"
#include "programs/progress.h"
#include "programs/tables/source.h"
#include "tables/limits.h"

namespace tidemark::programs {

namespace {

using tables::OnConditionFailure;
using tables::ReturnValues;

// Sets the names and values of any request that has expressions.
template <typename Request>
Status FillBindings(const Bindings& bindings, Request* request) {
  request->names = TRY(ParseNames({"--names", bindings.names}));
  request->values = TRY(ParseValues({"--values", bindings.values}));
  return Done{};
}

ExitCode Report(const tables::WriteReply& reply) {
  PrintLine(ToJson(reply));
  if (reply.applied) return ExitCode::kOk;
  PrintMessage("tidemark: the condition does not hold; nothing was written");
  return ExitCode::kNotMet;
}

Result<tables::PutRequest> ToRequest(const PutOptions& options) {
  tables::PutRequest request{.table = options.table,
                             .condition = options.condition,
                             .on_failure = OnConditionFailure::kAllOld};
  if (options.return_old) request.return_values = ReturnValues::kAllOld;
  TRY(FillBindings(options.bindings, &request));
  return request;
}

// Puts items from standard input, one on each line. Without a condition they are written in
// batches, because a batch needs only one sync.
class Import {
 public:
  Import(tables::Tables& tables, tables::PutRequest request)
      : tables_(tables), request_(std::move(request)) {}

  Status Run(std::istream& input);
  uint64_t stored() const { return stored_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Line {
    uint64_t number;
    item::Item item;
  };

  Status Flush();
  Status PutOne(Line line);
  Error At(uint64_t line, Error error) const {
    error.message = fmt::format("standard input, line {}: {}. {} items before it were stored", line,
                                error.message, stored_.load());
    return error;
  }

  tables::Tables& tables_;
  tables::PutRequest request_;  // PutOne sets its item.
  std::vector<Line> waiting_;
  std::atomic<uint64_t> stored_ = 0;  // The thread of Progress reads it.
  uint64_t refused_ = 0;              // By the condition.
};

Status Import::Run(std::istream& input) {
  std::string text;
  for (uint64_t number = 1; std::getline(input, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<item::Item> parsed = ParseItemLine(text);
    if (!parsed) {
      TRY(Flush());
      return At(number, std::move(parsed).error());
    }
    waiting_.push_back({number, *std::move(parsed)});
    if (waiting_.size() == tables::kMaxBatchWrites) TRY(Flush());
  }
  return Flush();
}

Status Import::Flush() {
  std::vector<Line> lines = std::move(waiting_);
  waiting_.clear();
  if (lines.size() > 1 && !request_.condition) {
    tables::BatchWriteRequest batch;
    for (const Line& line : lines) {
      batch.tables[request_.table].push_back(tables::BatchWriteRequest::Put{line.item});
    }
    Result<tables::BatchWriteReply> reply = tables_.BatchWrite(batch);
    if (reply && reply->unprocessed.empty()) {
      stored_ += lines.size();
      return Done{};
    }
    if (!reply && reply.error().code != ErrorCode::kInvalid) {
      return At(lines.front().number, std::move(reply).error());
    }
  }
  // The batch was refused: it names an item twice, or one of its items is wrong. Put the items one
  // by one: then the first case succeeds, and the error of the second names the line.
  for (Line& line : lines) TRY(PutOne(std::move(line)));
  return Done{};
}

Status Import::PutOne(Line line) {
  request_.item = std::move(line.item);
  Result<tables::WriteReply> reply = tables_.Put(request_);
  if (!reply) return At(line.number, std::move(reply).error());
  if (reply->applied) {
    ++stored_;
  } else {
    ++refused_;
  }
  return Done{};
}

Result<ExitCode> PutLines(tables::Tables& tables, const PutOptions& options,
                          tables::PutRequest request) {
  if (options.return_old)
    return Invalid("--return-old cannot be used with --item -: it works for one item only");
  Import import(tables, std::move(request));
  {
    Progress progress(options.source.folder.progress,
                      [&] { return fmt::format("{} items stored", import.stored()); });
    TRY(import.Run(std::cin));
  }
  PrintLine(fmt::format(R"({{"stored":{},"refused":{}}})", import.stored(), import.refused()));
  if (import.refused() == 0) return ExitCode::kOk;
  PrintMessage(
      fmt::format("tidemark: the condition does not hold for {} items; they were not written",
                  import.refused()));
  return ExitCode::kNotMet;
}

Result<ReturnValues> ParseReturned(const std::string& text) {
  if (text.empty()) return ReturnValues::kNone;
  if (text == "old") return ReturnValues::kAllOld;
  if (text == "new") return ReturnValues::kAllNew;
  if (text == "updated-old") return ReturnValues::kUpdatedOld;
  if (text == "updated-new") return ReturnValues::kUpdatedNew;
  return Invalid(fmt::format("--return: '{}' is not old, new, updated-old or updated-new", text));
}

template <typename Request>
Status FillRequest(const ReadOptions& options, Request* request) {
  request->table = options.table;
  request->index = options.index;
  request->filter = options.filter;
  request->projection = options.projection;
  TRY(FillBindings(options.bindings, request));
  if (options.count) request->select = tables::Select::kCount;
  if (options.start_after) {
    request->start_after = TRY(ParseItem({"--start-after", *options.start_after}));
  }
  return Done{};
}

// A page has at most as many items as are still to be printed. So its `last` is the key after which
// the next command must continue.
std::optional<uint32_t> PageLimit(const ReadOptions& options, uint64_t printed) {
  if (!options.limit) return std::nullopt;
  return static_cast<uint32_t>(
      std::min<uint64_t>(*options.limit - printed, std::numeric_limits<uint32_t>::max()));
}

// Reads page after page, to the end or to the limit.
template <typename Request>
Result<ExitCode> PrintPages(const ReadOptions& options, Request request,
                            const std::function<Result<tables::Page>(const Request&)>& read) {
  std::atomic<uint64_t> scanned = 0;
  std::atomic<uint64_t> found = 0;
  Progress progress(options.source.folder.progress, [&] {
    return fmt::format("{} items read, {} found", scanned.load(), found.load());
  });
  do {
    request.limit = PageLimit(options, found);
    tables::Page page = TRY(InTable(options.table, read(request)));
    for (const item::Item& item : page.items) PrintLine(item::ToJson(item));
    scanned += page.scanned;
    found += page.count;
    request.start_after = page.last;
  } while (request.start_after && options.limit != found.load());
  if (options.count) {
    PrintLine(fmt::format(R"({{"count":{},"scanned":{}}})", found.load(), scanned.load()));
  }
  if (request.start_after) {
    PrintMessage(fmt::format("tidemark: there may be more items; continue with --start-after '{}'",
                             item::ToJson(*request.start_after)));
  }
  return ExitCode::kOk;
}

}  // namespace

Result<ExitCode> PutItems(const PutOptions& options) {
  tables::PutRequest request = TRY(ToRequest(options));
  bool reads_input = options.item == "-";
  if (!reads_input) request.item = TRY(ParseItem({"--item", options.item}));
  const TablesSource tables = TRY(OpenTables(options.source, Use::kWrite));
  if (reads_input) return PutLines(*tables, options, std::move(request));
  return Report(TRY(InTable(options.table, tables->Put(request))));
}

Result<ExitCode> GetItem(const GetOptions& options) {
  tables::GetRequest request{.table = options.table, .projection = options.projection};
  request.key = TRY(ParseItem({"--key", options.key}));
  request.names = TRY(ParseNames({"--names", options.names}));
  const TablesSource tables = TRY(OpenTables(options.source, Use::kRead));
  std::optional<item::Item> item = TRY(InTable(options.table, tables->Get(request)));
  if (!item) {
    PrintMessage(fmt::format("tidemark: table '{}' has no item with the key {}", options.table,
                             item::ToJson(request.key)));
    return ExitCode::kNotMet;
  }
  PrintLine(item::ToJson(*item));
  return ExitCode::kOk;
}

Result<ExitCode> UpdateItem(const UpdateOptions& options) {
  tables::UpdateRequest request{.table = options.table,
                                .update = options.update,
                                .condition = options.condition,
                                .on_failure = OnConditionFailure::kAllOld};
  request.key = TRY(ParseItem({"--key", options.key}));
  request.return_values = TRY(ParseReturned(options.returned));
  TRY(FillBindings(options.bindings, &request));
  const TablesSource tables = TRY(OpenTables(options.source, Use::kWrite));
  return Report(TRY(InTable(options.table, tables->Update(request))));
}

Result<ExitCode> DeleteItem(const DeleteOptions& options) {
  tables::DeleteRequest request{.table = options.table,
                                .condition = options.condition,
                                .on_failure = OnConditionFailure::kAllOld};
  request.key = TRY(ParseItem({"--key", options.key}));
  if (options.return_old) request.return_values = ReturnValues::kAllOld;
  TRY(FillBindings(options.bindings, &request));
  const TablesSource tables = TRY(OpenTables(options.source, Use::kWrite));
  return Report(TRY(InTable(options.table, tables->Delete(request))));
}

Result<ExitCode> QueryItems(const QueryOptions& options) {
  tables::QueryRequest request{.key_condition = options.key_condition,
                               .forward = !options.descending};
  TRY(FillRequest(options.read, &request));
  const TablesSource tables = TRY(OpenTables(options.read.source, Use::kRead));
  return PrintPages<tables::QueryRequest>(
      options.read, std::move(request),
      [&](const tables::QueryRequest& page) { return tables->Query(page); });
}

Result<ExitCode> ScanItems(const ScanOptions& options) {
  tables::ScanRequest request{.segment = options.segment, .total_segments = options.total_segments};
  TRY(FillRequest(options.read, &request));
  const TablesSource tables = TRY(OpenTables(options.read.source, Use::kRead));
  return PrintPages<tables::ScanRequest>(
      options.read, std::move(request),
      [&](const tables::ScanRequest& page) { return tables->Scan(page); });
}

}  // namespace tidemark::programs
