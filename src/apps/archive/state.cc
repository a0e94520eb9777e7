#include "apps/archive/state.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "tables/conditional_writer.h"
#include "tables/ensure_table.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

constexpr char kFile[] = "file";
constexpr char kFailedKind[] = "failed";
constexpr char kTeam[] = "team";
constexpr char kAlive[] = "alive";
constexpr char kListener[] = "listener";
constexpr char kPolicy[] = "policy";
constexpr char kDeleted[] = "deleted";

item::Item KeyOfState(std::string_view kind, std::string_view name) {
  return {{"kind", std::string(kind)}, {"name", std::string(name)}};
}

// Ten digits, so that the names sort in the order of the times.
std::string NameOf(const PendingFetch& fetch) {
  return fmt::format("{:010}#{}#{}#{}", fetch.due, fetch.place.team.text(),
                     fetch.place.channel.text(), fetch.ts.text());
}

std::string NameOf(const FailedFetch& fetch) {
  return fmt::format("{}#{}#{}", fetch.place.team.text(), fetch.place.channel.text(),
                     fetch.ts.text());
}

item::Item Encode(const PendingFetch& fetch) {
  RowBuilder row;
  row.Set("kind", kFile);
  row.Set("name", NameOf(fetch));
  row.SetInt("attempts", fetch.attempts);
  row.SetInt("delays", fetch.delays);
  row.SetText("reason", fetch.reason);
  return row.Build();
}

// Removes and returns the part before the next '#'.
std::string_view TakePart(std::string_view* name) {
  const std::string_view part = name->substr(0, name->find('#'));
  name->remove_prefix(std::min(part.size() + 1, name->size()));
  return part;
}

Error NotAFetch(const std::string& name) {
  return {ErrorCode::kCorrupt,
          fmt::format("the row file / {} of the archive's state is not a fetch: delete it", name)};
}

Result<PendingFetch> Decode(const item::Item& row) {
  const std::string name = TextIn(row, "name");
  std::string_view rest = name;
  const std::string_view due_text = TakePart(&rest);
  EpochSeconds due = 0;
  std::from_chars(due_text.data(), due_text.data() + due_text.size(), due);
  auto team = slack::TeamId::Parse(TakePart(&rest));
  auto channel = slack::ChannelId::Parse(TakePart(&rest));
  const auto ts = ParseTimestamp(rest);
  if (!team || !channel || !ts) return NotAFetch(name);
  PendingFetch fetch{.place = {.team = *std::move(team), .channel = *std::move(channel)},
                     .ts = *ts,
                     .due = due,
                     .attempts = IntIn(row, "attempts").value_or(0),
                     .delays = IntIn(row, "delays").value_or(0),
                     .reason = TextIn(row, "reason")};
  // Finish deletes the row by the name that it computes. If that is another name than the row's,
  // the row would stay and come up again for ever.
  if (NameOf(fetch) != name) return NotAFetch(name);
  return fetch;
}

}  // namespace

State::State(std::string table, tables::Tables* tables)
    : table_(std::move(table)), tables_(*tables) {}

// The rows of a kind, in the order of their names.
tables::QueryRequest State::PartitionOf(const char* kind) const {
  return {.table = table_, .partition = item::Attribute{"kind", kind}, .consistent = true};
}

Status State::CreateTable() {
  return tables::EnsureTable(
      tables_,
      {.table = table_,
       .keys = {.partition = {.name = "kind"}, .sort = item::KeyAttribute{.name = "name"}}},
      std::nullopt);
}

Status State::AddTeam(const slack::TeamId& team) {
  TRY(tables_.Put({.table = table_, .item = KeyOfState(kTeam, team.text())}));
  return Done{};
}

Result<std::vector<slack::TeamId>> State::Teams() {
  std::vector<slack::TeamId> teams;
  for (const item::Item& row : TRY(tables::QueryAll(tables_, PartitionOf(kTeam)))) {
    // Not the id of a team: another program wrote the row.
    if (auto team = slack::TeamId::Parse(TextIn(row, "name"))) teams.push_back(*std::move(team));
  }
  return teams;
}

// The name of the row contains the time when it is due, so that DueFetches is one query. A new time
// is therefore a new row, and the old one is deleted in the same transaction.
Status State::Schedule(const PendingFetch& fetch, const std::optional<PendingFetch>& before) {
  const tables::PutRequest put = {.table = table_, .item = Encode(fetch)};
  if (!before || NameOf(*before) == NameOf(fetch)) {
    TRY(tables_.Put(put));
    return Done{};
  }
  const tables::DeleteRequest remove = {.table = table_, .key = KeyOfState(kFile, NameOf(*before))};
  const auto reply = TRY(tables::JudgeOnce(tables_.TransactWrite({.actions = {remove, put}})));
  if (reply.IsWritten()) return Done{};
  return Error{ErrorCode::kConflict, "another process is postponing the same fetch"};
}

Status State::Finish(const PendingFetch& fetch) {
  TRY(tables_.Delete({.table = table_, .key = KeyOfState(kFile, NameOf(fetch))}));
  return Done{};
}

Result<std::vector<PendingFetch>> State::DueFetches(EpochSeconds now, uint32_t limit) {
  const tables::Page page =
      TRY(tables_.Query({.table = table_,
                         .key_condition = "#kind = :kind AND #name < :end",
                         .names = {{"#kind", "kind"}, {"#name", "name"}},
                         .values = {{":kind", kFile}, {":end", fmt::format("{:010}", now + 1)}},
                         .consistent = true,
                         .limit = limit}));
  std::vector<PendingFetch> fetches;
  for (const item::Item& row : page.items) {
    fetches.push_back(TRY(Decode(row)));
  }
  return fetches;
}

Result<uint64_t> State::CountFetches() { return tables::CountAll(tables_, PartitionOf(kFile)); }

Status State::AddFailed(const FailedFetch& fetch) {
  TRY(tables_.Put({.table = table_, .item = KeyOfState(kFailedKind, NameOf(fetch))}));
  return Done{};
}

Status State::RemoveFailed(const FailedFetch& fetch) {
  TRY(tables_.Delete({.table = table_, .key = KeyOfState(kFailedKind, NameOf(fetch))}));
  return Done{};
}

Result<FailedPage> State::FailedFetches(const slack::TeamId& team,
                                        const std::optional<std::string>& after, uint32_t limit) {
  const std::string first = team.text() + "#";
  // '$' is the character after '#'.
  const tables::Page page =
      TRY(tables_.Query({.table = table_,
                         .key_condition = "#kind = :kind AND #name BETWEEN :from AND :to",
                         .names = {{"#kind", "kind"}, {"#name", "name"}},
                         .values = {{":kind", kFailedKind},
                                    {":from", first + after.value_or("") + (after ? "!" : "")},
                                    {":to", team.text() + "$"}},
                         .consistent = true,
                         .limit = limit}));
  FailedPage found;
  for (const item::Item& row : page.items) {
    const std::string name = TextIn(row, "name");
    std::string_view rest = std::string_view(name).substr(std::min(first.size(), name.size()));
    found.next = std::string(rest);
    auto channel = slack::ChannelId::Parse(TakePart(&rest));
    const auto ts = ParseTimestamp(rest);
    // Another program wrote the row.
    if (!channel || !ts) continue;
    found.fetches.push_back({.place = {.team = team, .channel = *std::move(channel)}, .ts = *ts});
  }
  if (page.items.size() < limit) found.next.reset();
  return found;
}

namespace {

std::string PolicyName(const std::string& archive) { return kDeleted + ("#" + archive); }

}  // namespace

Result<std::optional<DeletedPolicy>> State::PolicyOf(const std::string& archive) {
  auto row = TRY(tables_.Get({.table = table_, .key = KeyOfState(kPolicy, PolicyName(archive))}));
  // Earlier releases had one row for all archives of a folder.
  if (!row) row = TRY(tables_.Get({.table = table_, .key = KeyOfState(kPolicy, kDeleted)}));
  if (!row) return std::nullopt;
  const std::string text = TextIn(*row, "text");
  for (const auto& [value, name] : kDeletedTexts) {
    if (name != text) continue;
    return DeletedPolicy{
        .text = value, .purge_after = std::chrono::seconds(IntIn(*row, "purge_after").value_or(0))};
  }
  return std::nullopt;
}

Status State::SetPolicy(const std::string& archive, const DeletedPolicy& policy) {
  item::Item row = KeyOfState(kPolicy, PolicyName(archive));
  for (const auto& [value, name] : kDeletedTexts) {
    if (value == policy.text) row.Set("text", std::string(name));
  }
  row.Set("purge_after", item::Number::FromInt(policy.purge_after.count()));
  TRY(tables_.Put({.table = table_, .item = std::move(row)}));
  return Done{};
}

Result<std::optional<EpochSeconds>> State::LastAlive() {
  const auto row = TRY(tables_.Get({.table = table_, .key = KeyOfState(kAlive, kListener)}));
  return row ? IntIn(*row, "at") : std::nullopt;
}

Status State::SetAlive(EpochSeconds now) {
  item::Item row = KeyOfState(kAlive, kListener);
  row.Set("at", item::Number::FromInt(now));
  TRY(tables_.Put({.table = table_, .item = std::move(row)}));
  return Done{};
}

}  // namespace tidemark::archive
