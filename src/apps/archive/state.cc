#include "apps/archive/state.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/partition.h"
#include "tables/ensure_table.h"

namespace tidemark::archive {

namespace {

constexpr char kFile[] = "file";
constexpr char kTeam[] = "team";
constexpr char kAlive[] = "alive";
constexpr char kListener[] = "listener";

item::Item KeyOfState(std::string_view kind, std::string_view name) {
  return {{"kind", std::string(kind)}, {"name", std::string(name)}};
}

// Ten digits of seconds sort as the times do.
std::string NameOf(const PendingFetch& fetch) {
  return fmt::format("{:010}#{}#{}#{}", fetch.due, fetch.place.team.text(),
                     fetch.place.channel.text(), fetch.ts.text());
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

// Takes what stands before the next '#' from the front.
std::string_view TakePart(std::string_view* name) {
  const std::string_view part = name->substr(0, name->find('#'));
  name->remove_prefix(std::min(part.size() + 1, name->size()));
  return part;
}

Error NoFetch(const std::string& name) {
  return {ErrorCode::kCorrupt,
          fmt::format("the row file / {} of the archive's state is no fetch: delete it", name)};
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
  if (!team || !channel || !ts) return NoFetch(name);
  PendingFetch fetch{.place = {.team = *std::move(team), .channel = *std::move(channel)},
                     .ts = *ts,
                     .due = due,
                     .attempts = IntIn(row, "attempts").value_or(0),
                     .delays = IntIn(row, "delays").value_or(0),
                     .reason = TextIn(row, "reason")};
  // A fetch that is finished finds its row by its name: under another it would come up for ever.
  if (NameOf(fetch) != name) return NoFetch(name);
  return fetch;
}

// The rows of a kind, in the order of their names.
tables::QueryRequest QueryKind(const std::string& table, const char* kind) {
  return {.table = table,
          .key_condition = "#kind = :kind",
          .names = {{"#kind", "kind"}},
          .values = {{":kind", kind}},
          .consistent = true};
}

}  // namespace

State::State(std::string table, tables::Tables* tables)
    : table_(std::move(table)), tables_(*tables) {}

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
  for (const item::Item& row : TRY(QueryAll(tables_, QueryKind(table_, kTeam)))) {
    // A name that is no team was not written by us.
    if (auto team = slack::TeamId::Parse(TextIn(row, "name"))) teams.push_back(*std::move(team));
  }
  return teams;
}

Status State::Schedule(const PendingFetch& fetch, const std::optional<PendingFetch>& before) {
  const tables::PutRequest put = {.table = table_, .item = Encode(fetch)};
  if (!before || NameOf(*before) == NameOf(fetch)) {
    TRY(tables_.Put(put));
    return Done{};
  }
  const tables::DeleteRequest remove = {.table = table_, .key = KeyOfState(kFile, NameOf(*before))};
  const auto reply = TRY(tables_.TransactWrite({.actions = {remove, put}}));
  if (reply.outcome == tables::TransactOutcome::kApplied) return Done{};
  return Error{ErrorCode::kConflict, "the fetch is being put off by somebody else"};
}

Status State::Finish(const PendingFetch& fetch) {
  TRY(tables_.Delete({.table = table_, .key = KeyOfState(kFile, NameOf(fetch))}));
  return Done{};
}

Result<std::vector<PendingFetch>> State::DueFetches(EpochSeconds now, uint32_t limit) {
  tables::QueryRequest query = QueryKind(table_, kFile);
  query.key_condition += " AND #name < :end";
  query.names["#name"] = "name";
  query.values[":end"] = fmt::format("{:010}", now + 1);
  query.limit = limit;
  std::vector<PendingFetch> fetches;
  for (const item::Item& row : TRY(tables_.Query(query)).items) {
    fetches.push_back(TRY(Decode(row)));
  }
  return fetches;
}

Result<uint64_t> State::CountFetches() {
  tables::QueryRequest query = QueryKind(table_, kFile);
  query.select = tables::Select::kCount;
  uint64_t count = 0;
  do {
    tables::Page page = TRY(tables_.Query(query));
    count += page.count;
    query.start_after = std::move(page.last);
  } while (query.start_after);
  return count;
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
