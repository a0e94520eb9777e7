#include "programs/tables/table_actions.h"

#include <memory>
#include <utility>

#include "base/json.h"
#include "programs/arguments.h"
#include "programs/context.h"
#include "programs/output.h"
#include "programs/tables/source.h"

namespace tidemark::programs {

namespace {

Result<tables::CreateTableRequest> ToRequest(const CreateOptions& options) {
  tables::CreateTableRequest request{.table = options.table,
                                     .deletion_protected = options.is_protected};
  request.keys.partition = TRY(ParseKeyAttribute({"--key", options.key}));
  request.tags = TRY(ParseTags("--tag", options.tags));
  if (options.sort) request.keys.sort = TRY(ParseKeyAttribute({"--sort", *options.sort}));
  for (const std::string& text : options.indexes) {
    request.indexes.push_back(TRY(ParseGlobalIndex({"--index", text})));
  }
  for (const std::string& text : options.local_indexes) {
    request.indexes.push_back(
        TRY(ParseLocalIndex({"--local-index", text}, request.keys.partition)));
  }
  if (options.stream) request.stream = TRY(ParseStreamView({"--stream", *options.stream}));
  return request;
}

Result<tables::UpdateTableRequest> ToRequest(const AlterOptions& options) {
  tables::UpdateTableRequest request{.table = options.table, .drop_index = options.drop_index};
  if (options.add_index) {
    request.add_index = TRY(ParseGlobalIndex({"--add-index", *options.add_index}));
  }
  if (options.no_stream) request.stream = tables::UpdateStream{.enabled = false};
  if (options.stream) {
    tables::StreamView view = TRY(ParseStreamView({"--stream", *options.stream}));
    request.stream = tables::UpdateStream{.view = view};
  }
  if (options.protect) request.deletion_protected = true;
  if (options.no_protect) request.deletion_protected = false;
  return request;
}

bool ChangesAnything(const tables::UpdateTableRequest& request) {
  return request.add_index || request.drop_index || request.stream || request.deletion_protected;
}

Status AlterTimeToLive(tables::Tables& tables, const AlterOptions& options) {
  if (options.ttl) return tables.SetTimeToLive({.table = options.table, .attribute = *options.ttl});
  if (!options.no_ttl) return Done{};
  std::optional<std::string> attribute = TRY(tables.DescribeTable(options.table)).ttl_attribute;
  if (!attribute) return Invalid("--no-ttl: time to live is already off");
  return tables.SetTimeToLive({.table = options.table, .attribute = *attribute, .enabled = false});
}

Result<ExitCode> PrintDescription(tables::Tables& tables, const std::string& table) {
  PrintLine(ToJson(TRY(InTable(table, tables.DescribeTable(table)))));
  return ExitCode::kOk;
}

}  // namespace

Result<ExitCode> CreateTable(const CreateOptions& options) {
  tables::CreateTableRequest request = TRY(ToRequest(options));
  const TablesSource tables = TRY(OpenTables(options.source, Use::kCreate));
  TRY(InTable(options.table, tables->CreateTable(request)));
  if (options.ttl) {
    TRY(tables->SetTimeToLive({.table = options.table, .attribute = *options.ttl})
            .WithContext("the table was created, but --ttl failed"));
  }
  return PrintDescription(*tables, options.table);
}

Result<ExitCode> ListTables(const ListOptions& options) {
  const TablesSource tables = TRY(OpenTables(options.source, Use::kRead));
  tables::ListTablesRequest request;
  do {
    tables::ListTablesReply reply = TRY(tables->ListTables(request));
    for (const std::string& name : reply.tables) {
      const auto table = tables->DescribeTable(name);
      // A server shows nobody the table of access keys.
      if (!table && table.error().code == ErrorCode::kDenied) continue;
      PrintLine(ToJson(TRY(table)));
    }
    request.after = reply.last;
  } while (request.after);
  return ExitCode::kOk;
}

Result<ExitCode> DescribeTable(const TableOptions& options) {
  const TablesSource tables = TRY(OpenTables(options.source, Use::kRead));
  return PrintDescription(*tables, options.table);
}

Result<ExitCode> DropTable(const TableOptions& options) {
  const TablesSource tables = TRY(OpenTables(options.source, Use::kWrite));
  PrintLine(ToJson(TRY(InTable(options.table, tables->DeleteTable(options.table)))));
  TRY(tables.Maintain());
  return ExitCode::kOk;
}

Result<ExitCode> AlterTable(const AlterOptions& options) {
  tables::UpdateTableRequest request = TRY(ToRequest(options));
  bool changes_table = ChangesAnything(request);
  if (!changes_table && !options.ttl && !options.no_ttl) {
    return Invalid(
        "there is nothing to change: add a flag, for example --add-index by-email:email:S");
  }
  const TablesSource tables = TRY(OpenTables(options.source, Use::kWrite));
  if (changes_table) TRY(InTable(options.table, tables->UpdateTable(request)));
  Status ttl = InTable(options.table, AlterTimeToLive(*tables, options));
  if (changes_table)
    ttl =
        std::move(ttl).WithContext("the other changes were made, but time to live was not changed");
  TRY(std::move(ttl));
  // No background process runs here, so fill a new index or remove an old one now.
  TRY(tables.Maintain());
  return PrintDescription(*tables, options.table);
}

Result<ExitCode> TagTable(const TagOptions& options) {
  tables::TagRequest request{.table = options.table, .remove = options.remove};
  request.set = TRY(ParseTags("--set", options.set));
  bool changes = !request.set.empty() || !request.remove.empty();
  const TablesSource tables = TRY(OpenTables(options.source, changes ? Use::kWrite : Use::kRead));
  if (changes) TRY(InTable(options.table, tables->Tag(request)));
  PrintLine(ToJson(TRY(InTable(options.table, tables->ListTags(options.table)))));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
