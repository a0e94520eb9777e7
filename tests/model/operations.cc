#include "tests/model/operations.h"

#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "tests/model/render.h"

namespace tidemark::model {

namespace {

using item::Item;
using item::Number;
using item::Type;
using item::Value;
using tables::CreateTableRequest;
using tables::IndexKind;
using tables::IndexSpec;
using tables::ProjectionKind;

const std::vector<std::string> kTables{"hash", "pair", "binary"};

// A table or index to query: its name, its partition key and its sort key.
struct Target {
  std::string table;
  std::optional<std::string> index;
  std::string partition;
  std::string sort;  // Empty: there is none.
  std::string more_partition = {};
};

const std::vector<Target> kTargets{
    {"hash", std::nullopt, "id", ""},   {"hash", "by-g", "g", "n"},
    {"hash", "g-keys", "g", ""},        {"hash", "late", "late_key", ""},
    {"pair", std::nullopt, "p", "s"},   {"pair", "by-l", "p", "l"},
    {"pair", "by-n", "p", "n"},         {"pair", "by-l-only", "l", ""},
    {"binary", std::nullopt, "b", "c"}, {"hash", "no-such", "g", ""},
    {"pair", "several", "l", "n", "p"},
};

IndexSpec LateIndex() { return {.name = "late", .keys = {{"late_key", Type::kString}}}; }

CreateTableRequest Definition(const std::string& table) {
  CreateTableRequest request{.table = table, .stream = tables::StreamView::kNewAndOldImages};
  if (table == "hash") {
    request.keys = {{"id", Type::kString}, std::nullopt};
    request.indexes = {
        {.name = "by-g", .keys = {{"g", Type::kString}, {{"n", Type::kNumber}}}},
        {.name = "g-keys",
         .keys = {{"g", Type::kString}, std::nullopt},
         .projection = {ProjectionKind::kKeysOnly, {}}},
    };
  } else if (table == "pair") {
    request.keys = {{"p", Type::kString}, {{"s", Type::kNumber}}};
    request.indexes = {
        {.name = "by-l",
         .kind = IndexKind::kLocal,
         .keys = {{"p", Type::kString}, {{"l", Type::kString}}},
         .projection = {ProjectionKind::kKeysOnly, {}}},
        {.name = "by-n",
         .kind = IndexKind::kLocal,
         .keys = {{"p", Type::kString}, {{"n", Type::kNumber}}},
         .projection = {ProjectionKind::kInclude, {"tags"}}},
        {.name = "by-l-only", .keys = {{"l", Type::kString}, std::nullopt}},
        {.name = "several",
         .keys = {.partition = {"l", Type::kString},
                  .sort = {{"n", Type::kNumber}},
                  .more_partition = {{"p", Type::kString}},
                  .more_sort = {{"s", Type::kNumber}}}},
    };
  } else {
    request.keys = {{"b", Type::kBinary}, {{"c", Type::kBinary}}};
    request.stream = tables::StreamView::kNewImage;
  }
  return request;
}

const std::vector<std::string> kUpdates{
    "SET n = :n",
    "SET n = n + :one",
    "SET n = if_not_exists(n, :n) - :one",
    "SET n = :n, g = :g, l = :l",
    "SET m = :m",
    "SET m.x = :n",
    "SET #list = list_append(if_not_exists(#list, :list), :list)",
    "SET #list[1] = :n",
    "SET #ttl = :ttl",
    "SET late_key = :g",
    "SET copy = n, n = :n",
    "REMOVE n",
    "REMOVE g",
    "REMOVE l, #list",
    "REMOVE #list[0], #list[2]",
    "REMOVE m.x",
    "REMOVE #ttl",
    "ADD n :one",
    "ADD tags :tags",
    "DELETE tags :tags",
    "SET x = :n REMOVE y ADD n :one DELETE tags :tags",
    // These updates fail for some items, or always.
    "SET g = :n",
    "SET l = :n",
    "SET n = g + :one",
    "SET id = :g",
    "SET s = :n",
    "SET n = :n, n = :one",
    "SET",
    "ADD g :one",
};

const std::vector<std::string> kConditions{
    "attribute_exists(n)",
    "attribute_not_exists(n)",
    "n = :n",
    "n <> :n",
    "n < :n OR g = :g",
    "NOT n BETWEEN :one AND :n2",
    "n IN (:n, :one) AND attribute_exists(tags)",
    "contains(tags, :tag)",
    "begins_with(g, :g)",
    "size(#list) > :one",
    "attribute_type(m, :type)",
    "m.x = :n",
    "#ttl <= :now",
    "n =",
    "n = :n AND :n",
};

// Every "#name" or ":value" in an expression.
std::vector<std::string> References(const std::string& expression) {
  std::vector<std::string> references;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '#' && expression[i] != ':') continue;
    size_t end = i + 1;
    while (end < expression.size() &&
           (std::isalnum(static_cast<unsigned char>(expression[end])) || expression[end] == '_')) {
      ++end;
    }
    references.push_back(expression.substr(i, end - i));
  }
  return references;
}

// All pages of a query or a scan. The order within equal sort keys may differ, and in a scan the
// order of all items. The number of items that each page reads must be equal.
template <typename Ask>
std::string RenderPages(const std::string& sort, Ask ask) {
  std::vector<Item> items;
  uint64_t count = 0;
  std::string text = "pages";
  std::optional<Item> last;
  do {
    const Result<tables::Page> page = ask(last);
    if (!page) return Render(Result<Done>(page.error()));
    items.insert(items.end(), page->items.begin(), page->items.end());
    count += page->count;
    text += fmt::format(" {}", page->scanned);
    last = page->last;
  } while (last);
  text += fmt::format(" count {} order", count);
  for (const Item& item : items) {
    const Value* value = sort.empty() ? nullptr : item.Find(sort);
    if (value) text += " " + Render(Item{{sort, *value}});
  }
  return text + "\n  " + RenderSorted(items);
}

std::string QueryPages(Side& side, const tables::QueryRequest& request, const std::string& sort) {
  return RenderPages(sort, [&](const std::optional<Item>& last) {
    tables::QueryRequest next = request;
    next.start_after = last;
    return side.tables->Query(next);
  });
}

std::string ScanPages(Side& side, const tables::ScanRequest& request) {
  return RenderPages("", [&](const std::optional<Item>& last) {
    tables::ScanRequest next = request;
    next.start_after = last;
    return side.tables->Scan(next);
  });
}

// Implementations may divide segments differently, so only the union of all segments is compared.
std::string ScanSegments(Side& side, tables::ScanRequest request) {
  std::vector<Item> items;
  for (uint32_t segment = 0; segment < *request.total_segments; ++segment) {
    request.segment = segment;
    request.start_after = std::nullopt;
    do {
      const Result<tables::Page> page = side.tables->Scan(request);
      if (!page) return Render(Result<Done>(page.error()));
      items.insert(items.end(), page->items.begin(), page->items.end());
      request.start_after = page->last;
    } while (request.start_after);
  }
  return RenderSorted(items);
}

std::optional<std::string> EnabledStream(Side& side, const std::string& table) {
  const auto description = side.tables->DescribeTable(table);
  if (!description || !description->latest_stream || !description->latest_stream->enabled) {
    return std::nullopt;
  }
  return description->latest_stream->arn;
}

Result<std::string> IteratorAt(Side& side, const std::string& arn, tables::IteratorKind kind) {
  const auto stream = TRY(side.tables->DescribeStream(arn));
  return side.tables->GetShardIterator(
      {.arn = arn, .shard = stream.shards.back().id, .kind = kind});
}

// Reads from an iterator to the end of the stream, and stores the new position.
std::string ReadOn(Side& side, std::string* iterator) {
  std::vector<tables::StreamRecord> records;
  while (true) {
    const auto reply = side.tables->GetRecords({.iterator = *iterator});
    if (!reply) return Render(Result<Done>(reply.error()));
    if (reply->outcome != tables::RecordsOutcome::kOk) {
      iterator->clear();
      return fmt::format("outcome {}", static_cast<int>(reply->outcome));
    }
    records.insert(records.end(), reply->records.begin(), reply->records.end());
    const bool ended = !reply->next;
    *iterator = reply->next.value_or("");
    if (ended || reply->records.empty()) return (ended ? "closed " : "") + Render(records);
  }
}

std::string WholeStream(Side& side, const std::string& table) {
  const auto arn = EnabledStream(side, table);
  if (!arn) return "no stream";
  auto iterator = IteratorAt(side, *arn, tables::IteratorKind::kTrimHorizon);
  return iterator ? ReadOn(side, &*iterator) : Render(Result<Done>(iterator.error()));
}

}  // namespace

void CreateTables(tables::Tables& tables) {
  for (const std::string& table : kTables) CHECK(tables.CreateTable(Definition(table)).has_value());
}

Operations::Operations(uint64_t seed, const Clock& clock) : random_(seed), clock_(clock) {}

Operation Operations::Next() {
  static const std::vector<Weighted> kWeighted{
      {200, &Operations::Put},        {240, &Operations::Update},
      {90, &Operations::Delete},      {70, &Operations::Get},
      {110, &Operations::Query},      {15, &Operations::Scan},
      {20, &Operations::BatchGet},    {40, &Operations::BatchWrite},
      {15, &Operations::TransactGet}, {100, &Operations::TransactWrite},
      {20, &Operations::Follow},      {10, &Operations::Describe},
      {10, &Operations::Maintain},    {2, &Operations::SetTimeToLive},
      {2, &Operations::SetStream},    {4, &Operations::ChangeIndex},
      {1, &Operations::Recreate},     {2, &Operations::Tag},
      {2, &Operations::List},
  };
  uint64_t total = 0;
  for (const Weighted& each : kWeighted) total += each.weight;
  uint64_t place = Below(total);
  for (const Weighted& each : kWeighted) {
    if (place < each.weight) return (this->*each.make)();
    place -= each.weight;
  }
  CHECK(false);
}

// ---- Parts of requests ----

std::string Operations::Table() { return OneOf(kTables); }

Value Operations::ValueFor(const std::string& name) {
  if (name == "one") return Number::FromInt(1);
  if (name == "g" || name == "l" || name == "tag")
    return std::string(1, static_cast<char>('a' + Below(4)));
  if (name == "tags")
    return item::StringSet({std::string(1, static_cast<char>('a' + Below(4))), "z"});
  if (name == "list") return item::List{Number::FromInt(static_cast<int64_t>(Below(5))), "e"};
  if (name == "m") return item::Map{{"x", Number::FromInt(static_cast<int64_t>(Below(5)))}};
  if (name == "type") return "M";
  if (name == "now") return Number::FromInt(clock_.NowSeconds());
  if (name == "ttl") {
    if (Chance(10)) return "soon";
    return Number::FromInt(clock_.NowSeconds() - 100 + static_cast<int64_t>(Below(4000)));
  }
  return Number::FromInt(static_cast<int64_t>(Below(10)) - 3);
}

Item Operations::Key(const std::string& table) {
  // When a request has several mistakes, it is not defined which one is reported.
  if (!in_transaction_ && Chance(1)) return {{"wrong", "key"}};
  const std::string letter(1, static_cast<char>('a' + Below(12)));
  if (table == "hash") return {{"id", letter}};
  if (table == "pair") {
    return {{"p", std::string(1, static_cast<char>('a' + Below(4)))},
            {"s", Number::FromInt(static_cast<int64_t>(Below(8)) - 2)}};
  }
  // Zero bytes and long suffixes find mistakes in encodings.
  const std::vector<std::string> bytes{std::string(1, '\0'),
                                       std::string(2, '\0'),
                                       "\xff",
                                       "a",
                                       std::string("a\0", 2),
                                       "a\xff",
                                       "ab"};
  return {{"b", item::Binary{OneOf(bytes)}}, {"c", item::Binary{OneOf(bytes)}}};
}

Item Operations::RandomItem(const std::string& table) {
  Item item = Key(table);
  for (const char* name : {"n", "g", "l", "tags", "list", "m", "ttl"}) {
    if (Chance(35)) item.Set(name, ValueFor(name));
  }
  if (Chance(10)) item.Set("late_key", ValueFor("g"));
  if (Chance(1)) item.Set("g", ValueFor("n"));
  return item;
}

std::string Operations::Condition() {
  // The last two are invalid, so they are chosen rarely.
  return kConditions[Below(Chance(3) ? kConditions.size() : kConditions.size() - 2)];
}

template <typename Request>
void Operations::Bind(Request* request,
                      const std::vector<std::optional<std::string>>& expressions) {
  for (const auto& expression : expressions) {
    if (!expression) continue;
    for (const std::string& reference : References(*expression)) {
      const std::string name = reference.substr(1);
      if (reference[0] == '#') request->names.emplace(reference, name);
      if constexpr (requires { request->values; }) {
        if (reference[0] == ':') request->values.emplace(reference, ValueFor(name));
      }
    }
  }
}

tables::GetRequest Operations::MakeGet() {
  const std::string table = Table();
  tables::GetRequest request{.table = table, .key = Key(table)};
  if (Chance(30))
    request.projection =
        OneOf<std::string>({"n", "g, m.x", "#list[0], #list[2], n", "nothing", "n, n"});
  Bind(&request, {request.projection});
  return request;
}

tables::PutRequest Operations::MakePut() {
  const std::string table = Table();
  tables::PutRequest request{.table = table, .item = RandomItem(table)};
  // It is not defined whether an invalid index key or a failed condition is reported first.
  const Value* g = request.item.Find("g");
  if (Chance(40) && (g == nullptr || g->type() == Type::kString)) request.condition = Condition();
  if (Chance(30)) request.return_values = tables::ReturnValues::kAllOld;
  if (Chance(1)) request.return_values = tables::ReturnValues::kAllNew;
  if (Chance(50)) request.on_failure = tables::OnConditionFailure::kAllOld;
  Bind(&request, {request.condition});
  return request;
}

tables::UpdateRequest Operations::MakeUpdate() {
  const std::string table = Table();
  tables::UpdateRequest request{.table = table, .key = Key(table)};
  if (!Chance(3))
    request.update = kUpdates[Below(Chance(10) ? kUpdates.size() : kUpdates.size() - 8)];
  if (Chance(30)) request.condition = Condition();
  request.return_values = static_cast<tables::ReturnValues>(Below(5));
  if (Chance(50)) request.on_failure = tables::OnConditionFailure::kAllOld;
  Bind(&request, {request.update, request.condition});
  return request;
}

tables::DeleteRequest Operations::MakeDelete() {
  const std::string table = Table();
  tables::DeleteRequest request{.table = table, .key = Key(table)};
  if (Chance(40)) request.condition = Condition();
  if (Chance(30)) request.return_values = tables::ReturnValues::kAllOld;
  if (Chance(50)) request.on_failure = tables::OnConditionFailure::kAllOld;
  Bind(&request, {request.condition});
  return request;
}

tables::ConditionCheck Operations::MakeCheck() {
  const std::string table = Table();
  tables::ConditionCheck request{.table = table, .key = Key(table), .condition = Condition()};
  Bind(&request, {request.condition});
  return request;
}

tables::TransactAction Operations::MakeAction() {
  switch (Below(4)) {
    case 0:
      return MakeCheck();
    case 1:
      return MakePut();
    case 2:
      return MakeUpdate();
    default:
      return MakeDelete();
  }
}

// ---- Operations ----

Operation Operations::Get() {
  const auto request = MakeGet();
  return {Show(request), [=](Side& side) { return Render(side.tables->Get(request)); }};
}

Operation Operations::Put() {
  const auto request = MakePut();
  return {Show(request), [=](Side& side) { return Render(side.tables->Put(request)); }};
}

Operation Operations::Update() {
  const auto request = MakeUpdate();
  return {Show(request), [=](Side& side) { return Render(side.tables->Update(request)); }};
}

Operation Operations::Delete() {
  const auto request = MakeDelete();
  return {Show(request), [=](Side& side) { return Render(side.tables->Delete(request)); }};
}

Operation Operations::Query() {
  const Target& target = OneOf(kTargets);
  const Item example = RandomItem(target.table);
  auto value_of = [&](const std::string& name) {
    const Value* value = example.Find(name);
    return value ? *value : ValueFor(name == "late_key" ? "g" : name);
  };
  tables::QueryRequest request{.table = target.table, .index = target.index};
  request.key_condition = "#pk = :pk";
  request.names = {{"#pk", target.partition}};
  request.values = {{":pk", value_of(target.partition)}};
  if (!target.more_partition.empty() && Chance(90)) {
    request.key_condition += " AND #more = :more";
    request.names.emplace("#more", target.more_partition);
    request.values.emplace(":more", value_of(target.more_partition));
  }
  if (!target.sort.empty() && Chance(60)) {
    request.key_condition +=
        " AND " +
        OneOf<std::string>({"#sk = :sk", "#sk < :sk", "#sk <= :sk", "#sk > :sk", "#sk >= :sk",
                            "#sk BETWEEN :sk AND :sk2", "begins_with(#sk, :sk)"});
    request.names.emplace("#sk", target.sort);
    request.values.emplace(":sk", value_of(target.sort));
    if (request.key_condition.find(":sk2") != std::string::npos)
      request.values.emplace(":sk2", value_of(target.sort));
  }
  if (!request.values.contains(":sk") && Chance(40)) {
    request.partition = item::Attribute{target.partition, request.values.at(":pk")};
    request.key_condition.clear();
    request.names.clear();
    request.values.clear();
  }
  if (Chance(25))
    request.filter = OneOf<std::string>(
        {"attribute_exists(tags)", "attribute_not_exists(m)", "contains(tags, :tag)"});
  if (Chance(15))
    request.select = OneOf<tables::Select>({tables::Select::kCount, tables::Select::kAllAttributes,
                                            tables::Select::kAllProjectedAttributes});
  if (!request.select && Chance(20))
    request.projection = OneOf<std::string>({"tags", "n, m", "p, id"});
  if (Chance(50)) request.limit = static_cast<uint32_t>(Below(5));
  request.forward = Chance(50);
  request.consistent = Chance(20);
  Bind(&request, {request.filter, request.projection});
  const std::string sort = target.sort;
  return {Show(request), [=](Side& side) { return QueryPages(side, request, sort); }};
}

Operation Operations::Scan() {
  const Target& target = OneOf(kTargets);
  tables::ScanRequest request{.table = target.table, .index = target.index};
  if (Chance(40)) request.filter = Condition();
  if (Chance(50)) request.limit = static_cast<uint32_t>(Below(10));
  Bind(&request, {request.filter});
  if (Chance(30)) {
    request.total_segments = static_cast<uint32_t>(1 + Below(6));
    return {Show(request), [=](Side& side) { return ScanSegments(side, request); }};
  }
  return {Show(request), [=](Side& side) { return ScanPages(side, request); }};
}

Operation Operations::BatchGet() {
  tables::BatchGetRequest request;
  for (uint64_t left = 1 + Below(12); left > 0; --left) {
    const std::string table = Table();
    request.tables[table].keys.push_back(Key(table));
  }
  return {Show(request), [=](Side& side) { return Render(side.tables->BatchGet(request)); }};
}

Operation Operations::BatchWrite() {
  tables::BatchWriteRequest request;
  for (uint64_t left = 1 + Below(6); left > 0; --left) {
    const std::string table = Table();
    auto& actions = request.tables[table];
    if (Chance(60)) {
      actions.push_back(tables::BatchWriteRequest::Put{RandomItem(table)});
    } else {
      actions.push_back(tables::BatchWriteRequest::Delete{Key(table)});
    }
  }
  return {Show(request), [=](Side& side) { return Render(side.tables->BatchWrite(request)); }};
}

Operation Operations::TransactGet() {
  tables::TransactGetRequest request;
  const uint64_t count = 1 + Below(5);
  in_transaction_ = count > 1;
  while (request.gets.size() < count) request.gets.push_back(MakeGet());
  in_transaction_ = false;
  return {Show(request), [=](Side& side) { return Render(side.tables->TransactGet(request)); }};
}

Operation Operations::TransactWrite() {
  tables::TransactWriteRequest request;
  const uint64_t count = 1 + Below(4);
  in_transaction_ = count > 1;
  while (request.actions.size() < count) request.actions.push_back(MakeAction());
  in_transaction_ = false;
  if (Chance(30)) {
    request.token = "token" + std::to_string(Below(20));
    if (last_with_token_ && Chance(50)) request = *last_with_token_;
    last_with_token_ = request;
  }
  return {Show(request), [=](Side& side) { return Render(side.tables->TransactWrite(request)); }};
}

Operation Operations::Follow() {
  const std::string table = Table();
  return {"follow " + table, [=](Side& side) -> std::string {
            std::string& iterator = side.iterators[table];
            if (!iterator.empty()) return ReadOn(side, &iterator);
            const auto arn = EnabledStream(side, table);
            if (!arn) return "no stream";
            const auto latest = IteratorAt(side, *arn, tables::IteratorKind::kLatest);
            if (latest) iterator = *latest;
            return latest ? "at the latest" : Render(Result<Done>(latest.error()));
          }};
}

Operation Operations::Describe() {
  const std::string table = Chance(5) ? "missing" : Table();
  return {"describe " + table,
          [=](Side& side) { return Render(side.tables->DescribeTable(table)); }};
}

Operation Operations::Maintain() {
  return {"maintain", [](Side& side) {
            side.maintain();
            return std::string("done");
          }};
}

Operation Operations::SetTimeToLive() {
  const tables::SetTimeToLiveRequest request{
      .table = Table(), .attribute = "ttl", .enabled = Chance(70)};
  return {fmt::format("time to live {} {}", request.table, request.enabled),
          [=](Side& side) { return Render(side.tables->SetTimeToLive(request)); }};
}

Operation Operations::SetStream() {
  const tables::UpdateTableRequest request{
      .table = Table(),
      .stream = tables::UpdateStream{.enabled = Chance(60),
                                     .view = static_cast<tables::StreamView>(Below(4))}};
  return {fmt::format("stream {} {}", request.table, request.stream->enabled),
          [=](Side& side) { return Render(side.tables->UpdateTable(request)); }};
}

Operation Operations::ChangeIndex() {
  tables::UpdateTableRequest request{.table = "hash"};
  if (Chance(60)) {
    request.add_index = LateIndex();
  } else {
    request.drop_index = "late";
  }
  return {request.add_index ? "add index late" : "drop index late", [=](Side& side) {
            const auto changed = side.tables->UpdateTable(request);
            // It is not defined which of several reasons for a refusal is reported.
            return changed ? Render(*changed) : std::string("refused");
          }};
}

Operation Operations::Recreate() {
  const std::string table = Table();
  return {"recreate " + table, [=](Side& side) {
            const std::string deleted = Render(side.tables->DeleteTable(table));
            return deleted.substr(0, 5) + Render(side.tables->CreateTable(Definition(table)));
          }};
}

Operation Operations::Tag() {
  const uint64_t tag = Below(3);
  const tables::TagRequest request{.table = Table(),
                                   .set = {{"tag" + std::to_string(tag), "x"}},
                                   .remove = {"tag" + std::to_string((tag + 1 + Below(2)) % 3)}};
  return {"tag " + request.table, [=](Side& side) {
            const std::string tagged = Render(side.tables->Tag(request));
            return tagged + " " + Render(side.tables->ListTags(request.table));
          }};
}

Operation Operations::List() {
  const size_t limit = Below(4);
  return {fmt::format("list tables limit {}", limit),
          [=](Side& side) { return Render(side.tables->ListTables({.limit = limit})); }};
}

Operation Operations::Everything() {
  return {"everything", [](Side& side) {
            std::string text;
            for (const std::string& table : kTables) {
              text += Render(side.tables->DescribeTable(table)) + "\n" + WholeStream(side, table) +
                      "\n";
            }
            for (const Target& target : kTargets) {
              text += ScanPages(side, {.table = target.table, .index = target.index}) + "\n";
            }
            return text;
          }};
}

}  // namespace tidemark::model
