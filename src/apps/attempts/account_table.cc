#include "apps/attempts/account_table.h"

#include <utility>

#include "item/attributes.h"
#include "tables/conditional_writer.h"
#include "tables/ensure_table.h"
#include "tables/pages.h"

namespace tidemark::attempts {

namespace {

constexpr uint32_t kScanPage = 1'000;
// Sorts after every sort key of a subject.
constexpr std::string_view kAfterAllRows = "~~";

// Most changes, such as every reservation, change only the head row. A single put costs less than a
// transaction of one action.
bool IsHeadAlone(const AccountChange& change) {
  return change.puts.empty() && change.removals.empty() && change.required.empty();
}

// For requests with a condition on a head row.
template <typename Request>
void RequireVersion(const std::optional<std::string>& version, Request* request) {
  request->names = {{"#version", "version"}};
  request->condition = "attribute_not_exists(#version)";
  if (!version) return;
  request->condition = "#version = :version";
  request->values = {{":version", *version}};
}

// False: load again and decide again.
template <typename Reply>
Result<bool> AppliedBy(Result<Reply> reply) {
  return TRY(tables::JudgeOnce(std::move(reply))).IsWritten();
}

}  // namespace

Status AccountTable::Create() {
  return tables::EnsureTable(
      tables_,
      {.table = table_,
       .keys = {.partition = {.name = std::string(kPartitionAttribute)},
                .sort = item::KeyAttribute{.name = std::string(kSortAttribute)}}},
      "ttl");
}

tables::QueryRequest AccountTable::RowsOf(const Subject& subject) const {
  return {.table = table_,
          .partition = item::Attribute{std::string(kPartitionAttribute), subject.text()},
          .consistent = true};
}

Result<std::vector<item::Item>> AccountTable::Load(const Subject& subject) {
  return tables::QueryAll(tables_, RowsOf(subject));
}

Later<std::vector<item::Item>> AccountTable::SubmitLoad(const Subject& subject) {
  return tables::SubmitQueryAll(tables_, RowsOf(subject), std::nullopt);
}

tables::PutRequest AccountTable::PutHead(const AccountChange& change) const {
  tables::PutRequest put{.table = table_, .item = change.head};
  RequireVersion(change.loaded_version, &put);
  return put;
}

// Only heads have conditions. A row cannot change without its head, so the version of the head
// stands for all rows of the subject, and a check of another subject's head for all of that one's.
tables::TransactWriteRequest AccountTable::Transaction(const AccountChange& change) const {
  tables::TransactWriteRequest request;
  request.actions.emplace_back(PutHead(change));
  for (const item::Item& row : change.puts) {
    request.actions.emplace_back(tables::PutRequest{.table = table_, .item = row});
  }
  for (const RequiredVersion& other : change.required) {
    tables::ConditionCheck check{.table = table_,
                                 .key = {{std::string(kPartitionAttribute), other.subject.text()},
                                         {std::string(kSortAttribute), std::string(kHeadKey)}}};
    RequireVersion(other.version, &check);
    request.actions.emplace_back(std::move(check));
  }
  for (const std::string& sort_key : change.removals) {
    request.actions.emplace_back(
        tables::DeleteRequest{.table = table_,
                              .key = {{std::string(kPartitionAttribute), change.subject.text()},
                                      {std::string(kSortAttribute), sort_key}}});
  }
  return request;
}

Result<bool> AccountTable::Write(const AccountChange& change) {
  if (IsHeadAlone(change)) return AppliedBy(tables_.Put(PutHead(change)));
  return AppliedBy(tables_.TransactWrite(Transaction(change)));
}

Later<bool> AccountTable::Submit(const AccountChange& change) {
  const auto is_applied = [](auto reply) { return AppliedBy(std::move(reply)); };
  if (IsHeadAlone(change)) {
    return tables_.Submit(tables::Tables::WriteRequest(PutHead(change)), std::nullopt)
        .Then(is_applied);
  }
  return tables_.Submit(Transaction(change), std::nullopt).Then(is_applied);
}

Result<AccountTable::Candidates> AccountTable::ListCandidates(const std::optional<Subject>& after) {
  tables::ScanRequest scan{.table = table_, .consistent = true, .limit = kScanPage};
  // After all rows of that subject.
  if (after) {
    scan.start_after = {{std::string(kPartitionAttribute), after->text()},
                        {std::string(kSortAttribute), std::string(kAfterAllRows)}};
  }
  const tables::Page page = TRY(tables_.Scan(scan));
  Candidates found;
  for (const item::Item& row : page.items) {
    auto subject = Subject::Parse(item::TextIn(row, kPartitionAttribute));
    if (!subject) continue;
    const std::string sort_key = item::TextIn(row, kSortAttribute);
    // The last subject of a page may have more rows on the next one, which is not read.
    if (page.last) found.last = *subject;
    // A count may hold a journey (OnLimit::kHold), so it is a reason to look at the subject. Most
    // heads have no failures in a row, and are not: a page would name everybody who ever signed in.
    const bool is_decisive = sort_key == kHeadKey ? row.Contains("failures_in_a_row")
                                                  : ParseSortKey(sort_key).has_value();
    if (!is_decisive) continue;
    if (found.subjects.empty() || found.subjects.back() != *subject) {
      found.subjects.push_back(*std::move(subject));
    }
  }
  if (found.last && (found.subjects.empty() || found.subjects.back() != *found.last)) {
    found.subjects.push_back(*found.last);
  }
  return found;
}

}  // namespace tidemark::attempts
