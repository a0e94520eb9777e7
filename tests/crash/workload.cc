#include "tests/crash/workload.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/check.h"
#include "base/random.h"

namespace tidemark::crash {
namespace {

using item::Item;
using item::Number;
using item::Value;

constexpr uint64_t kThingsOfAWriter = 24;
constexpr uint64_t kGroups = 5;

Number ToNumber(uint64_t value) { return Number::FromInt(static_cast<int64_t>(value)); }

std::string IdOf(uint32_t writer, uint64_t thing) {
  return "w" + std::to_string(writer) + "-" + std::to_string(thing);
}

// Mostly small. Some are so large that they span blocks of the log and fill a memtable.
size_t PayloadBytes(Random& random) {
  switch (random.Below(20)) {
    case 0:
      return 40'000 + random.Below(30'000);
    case 1:
    case 2:
      return 1'000 + random.Below(4'000);
    default:
      return random.Below(200);
  }
}

Step RandomStep(Random& random, uint32_t writer, uint64_t thing) {
  static constexpr StepKind kinds[] = {StepKind::kPut,  StepKind::kPut,    StepKind::kPutIfAbsent,
                                       StepKind::kAdd,  StepKind::kAdd,    StepKind::kMove,
                                       StepKind::kMove, StepKind::kDelete, StepKind::kDelete};
  const uint64_t group = random.Below(kGroups);
  return {.kind = kinds[random.Below(std::size(kinds))],
          .id = IdOf(writer, thing),
          .group = group == 0 ? "" : "g" + std::to_string(group),
          .payload_bytes = PayloadBytes(random)};
}

// Uses neighbouring things, because a transaction may name each thing only once.
std::vector<Step> RandomTransaction(Random& random, uint32_t writer) {
  std::vector<Step> steps;
  const uint64_t first = random.Below(kThingsOfAWriter);
  const uint64_t count = 2 + random.Below(3);
  for (uint64_t i = 0; i < count; ++i) {
    steps.push_back(RandomStep(random, writer, (first + i) % kThingsOfAWriter));
  }
  if (random.Below(4) == 0) steps.back().kind = StepKind::kCheckPresent;
  return steps;
}

Item KeyOf(const Step& step) { return {{"id", step.id}}; }

Item NewThing(const Step& step, uint64_t number) {
  Item thing{{"id", step.id}, {"n", ToNumber(number)}, {"op", ToNumber(number)}};
  if (!step.group.empty()) thing.Set("group", step.group);
  // The bytes differ for each operation, so that a mix of two operations is noticed.
  const char fill = static_cast<char>('a' + number % 26);
  thing.Set("payload", std::string(step.payload_bytes, fill));
  return thing;
}

tables::PutRequest PutOf(const Step& step, uint64_t number) {
  tables::PutRequest put{.table = kTable, .item = NewThing(step, number)};
  if (step.kind == StepKind::kPutIfAbsent) put.condition = "attribute_not_exists(id)";
  return put;
}

tables::UpdateRequest UpdateOf(const Step& step, uint64_t number) {
  tables::UpdateRequest update{.table = kTable, .key = KeyOf(step)};
  if (step.kind == StepKind::kCount) {
    update.update = "ADD n :one";
    update.values = {{":one", ToNumber(1)}};
    update.return_values = tables::ReturnValues::kUpdatedNew;
    return update;
  }
  update.names = {{"#op", "op"}};
  update.values = {{":op", ToNumber(number)}};
  if (step.kind == StepKind::kAdd) {
    update.update = "SET #op = :op ADD n :one";
    update.values.emplace(":one", ToNumber(1));
    return update;
  }
  update.names.emplace("#group", "group");
  if (step.group.empty()) {
    update.update = "SET #op = :op REMOVE #group, payload";
  } else {
    update.update = "SET #op = :op, #group = :group REMOVE payload";
    update.values.emplace(":group", step.group);
  }
  return update;
}

tables::TransactAction ActionOf(const Step& step, uint64_t number) {
  switch (step.kind) {
    case StepKind::kPut:
    case StepKind::kPutIfAbsent:
      return PutOf(step, number);
    case StepKind::kDelete:
      return tables::DeleteRequest{.table = kTable, .key = KeyOf(step)};
    case StepKind::kCheckPresent:
      return tables::ConditionCheck{
          .table = kTable, .key = KeyOf(step), .condition = "attribute_exists(id)"};
    default:
      return UpdateOf(step, number);
  }
}

Outcome OutcomeOf(const tables::WriteReply& reply) {
  Outcome outcome{.applied = reply.applied};
  if (reply.attributes) {
    const Value* count = reply.attributes->Find("n");
    if (count != nullptr && count->As<Number>() != nullptr) {
      outcome.count = static_cast<uint64_t>(count->As<Number>()->Floor().value_or(0));
    }
  }
  return outcome;
}

Result<Outcome> RunPlain(tables::Tables& tables, const tables::TransactAction& action) {
  if (const auto* put = std::get_if<tables::PutRequest>(&action)) {
    return OutcomeOf(TRY(tables.Put(*put)));
  }
  if (const auto* update = std::get_if<tables::UpdateRequest>(&action)) {
    return OutcomeOf(TRY(tables.Update(*update)));
  }
  return OutcomeOf(TRY(tables.Delete(std::get<tables::DeleteRequest>(action))));
}

// The thing after the step; the caller has checked the conditions.
std::optional<Item> After(const Step& step, uint64_t number, const std::optional<Item>& before) {
  Item thing = before.value_or(KeyOf(step));
  switch (step.kind) {
    case StepKind::kPut:
    case StepKind::kPutIfAbsent:
      return NewThing(step, number);
    case StepKind::kDelete:
      return std::nullopt;
    case StepKind::kCheckPresent:
      return before;
    case StepKind::kAdd: {
      const Value* n = thing.Find("n");
      thing.Set("n", Add(n == nullptr ? Number() : *n->As<Number>(), ToNumber(1)).value());
      break;
    }
    default:
      thing.Erase("payload");
      thing.Erase("group");
      if (!step.group.empty()) thing.Set("group", step.group);
  }
  thing.Set("op", ToNumber(number));
  return thing;
}

bool Allows(const Step& step, const std::optional<Item>& before) {
  if (step.kind == StepKind::kPutIfAbsent) return !before;
  if (step.kind == StepKind::kCheckPresent) return before.has_value();
  return true;
}

std::string IdIn(const Item& thing) { return *thing.Find("id")->As<item::String>(); }

Result<Things> ReadAll(tables::Tables& tables, std::optional<std::string> index) {
  Things things;
  tables::ScanRequest scan{.table = kTable, .index = std::move(index)};
  do {
    tables::Page page = TRY(tables.Scan(scan));
    for (Item& thing : page.items) {
      std::string id = IdIn(thing);
      if (!things.emplace(id, std::move(thing)).second) {
        return Error{ErrorCode::kCorrupt, id + " is there twice"};
      }
    }
    scan.start_after = page.last;
  } while (scan.start_after);
  return things;
}

Status ReadShard(tables::Tables& tables, const std::string& arn, const tables::Shard& shard,
                 const std::string& after_sequence, std::vector<tables::StreamRecord>* records) {
  tables::ShardIteratorRequest request{.arn = arn, .shard = shard.id};
  if (!after_sequence.empty() && after_sequence >= shard.first_sequence) {
    request.kind = tables::IteratorKind::kAfterSequence;
    request.sequence = after_sequence;
  }
  std::optional<std::string> iterator = TRY(tables.GetShardIterator(request));
  while (iterator) {
    tables::RecordsReply reply = TRY(tables.GetRecords({.iterator = *iterator}));
    if (reply.outcome != tables::RecordsOutcome::kOk) {
      return Error{ErrorCode::kCorrupt, "the stream's iterator expired or was trimmed"};
    }
    // An open shard always has a next iterator: its end is an empty page.
    if (reply.records.empty()) break;
    std::move(reply.records.begin(), reply.records.end(), std::back_inserter(*records));
    iterator = reply.next;
  }
  return Done{};
}

}  // namespace

Operation OperationOf(uint64_t seed, uint32_t writer, uint64_t number) {
  SeededRandom random(seed * 1'000'003 + writer * 7'919 + number * 104'729);
  Operation operation{.number = number};
  switch (random.Below(8)) {
    case 0:
      operation.steps = {{.kind = StepKind::kCount, .id = kCounter, .group = ""}};
      break;
    case 1:
    case 2:
      operation.steps = RandomTransaction(random, writer);
      break;
    default:
      operation.steps = {RandomStep(random, writer, random.Below(kThingsOfAWriter))};
  }
  return operation;
}

tables::CreateTableRequest TheTable() {
  return {.table = kTable,
          .keys = {.partition = {"id"}},
          .indexes = {{.name = kIndex,
                       .keys = {.partition = {"group"},
                                .sort = item::KeyAttribute{"n", item::Type::kNumber}},
                       .projection = {}}},
          .stream = tables::StreamView::kNewAndOldImages};
}

Result<Outcome> Perform(tables::Tables& tables, const Operation& operation) {
  if (operation.steps.size() == 1) {
    return RunPlain(tables, ActionOf(operation.steps.front(), operation.number));
  }
  tables::TransactWriteRequest request;
  for (const Step& step : operation.steps) {
    request.actions.push_back(ActionOf(step, operation.number));
  }
  const tables::TransactWriteReply reply = TRY(tables.TransactWrite(request));
  return Outcome{.applied = reply.outcome == tables::TransactOutcome::kApplied};
}

std::optional<std::vector<Change>> ChangesOf(const Operation& operation, const Things& things) {
  std::vector<Change> changes;
  for (const Step& step : operation.steps) {
    const auto found = things.find(step.id);
    Change change{.id = step.id};
    if (found != things.end()) change.before = found->second;
    if (!Allows(step, change.before)) return std::nullopt;
    change.after = After(step, operation.number, change.before);
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

void Apply(const std::vector<Change>& changes, Things* things) {
  for (const Change& change : changes) {
    if (change.after) {
      things->insert_or_assign(change.id, *change.after);
    } else {
      things->erase(change.id);
    }
  }
}

bool Counts(const Operation& operation) { return operation.steps.front().kind == StepKind::kCount; }

std::optional<uint32_t> OwnerOf(const std::string& id) {
  if (!id.starts_with("w")) return std::nullopt;
  return static_cast<uint32_t>(std::stoul(id.substr(1)));
}

Result<Things> ReadThings(tables::Tables& tables) { return ReadAll(tables, std::nullopt); }

Result<Things> ReadIndex(tables::Tables& tables) { return ReadAll(tables, kIndex); }

Result<std::vector<tables::StreamRecord>> ReadStream(tables::Tables& tables,
                                                     const std::string& after_sequence) {
  const tables::TableDescription table = TRY(tables.DescribeTable(kTable));
  if (!table.latest_stream) return Error{ErrorCode::kCorrupt, "the table has lost its stream"};
  const tables::StreamDescription stream = TRY(tables.DescribeStream(table.latest_stream->arn));
  std::vector<tables::StreamRecord> records;
  for (const tables::Shard& shard : stream.shards) {
    if (shard.last_sequence && *shard.last_sequence <= after_sequence) continue;
    TRY(ReadShard(tables, stream.arn, shard, after_sequence, &records));
  }
  return records;
}

uint64_t Repetitions(const char* name, testing::Amounts amounts) {
  if (const char* given = std::getenv(name)) return std::strtoull(given, nullptr, 10);
  return static_cast<uint64_t>(testing::AmountOf(amounts));
}

}  // namespace tidemark::crash
