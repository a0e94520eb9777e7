#include "apps/attempts/moving/moving_tables.h"

#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "item/attributes.h"

namespace tidemark::moving {

namespace {

using item::Item;
using item::TextIn;

Error NotServed(const std::string& what) {
  return Invalid(fmt::format(
      "{} cannot be done while attempts move from the old store: finish that first", what));
}

// Of "subject_id = :name" and nothing more, which is all that is asked for.
Result<attempts::Subject> SubjectOf(const tables::QueryRequest& request) {
  const std::string prefix = fmt::format("{} = ", attempts::kPartitionAttribute);
  const bool wants_all =
      !request.index && !request.filter && !request.projection && !request.select && !request.limit;
  if (!wants_all || !request.key_condition.starts_with(prefix)) return NotServed("such a query");
  const auto value = request.values.find(request.key_condition.substr(prefix.size()));
  const auto* text = value == request.values.end() ? nullptr : value->second.As<std::string>();
  if (text == nullptr) return NotServed("such a query");
  return attempts::Subject::Parse(*text);
}

const std::string& TableOf(const tables::TransactAction& action) {
  return std::visit([](const auto& one) -> const std::string& { return one.table; }, action);
}

// What a change says of the head and of other rows, in the words of attempts.
class ChangeReader {
 public:
  Status Read(const tables::PutRequest& put) {
    TRY(SetSubject(put.item));
    if (TextIn(put.item, attempts::kSortAttribute) == kHeadKey) {
      const auto version = put.values.find(":version");
      const auto* text = version == put.values.end() ? nullptr : version->second.As<std::string>();
      if (text != nullptr) change_.version = *text;
      has_head_ = true;
    } else if (put.condition) {
      return NotServed("a conditional write of a single row");
    }
    change_.puts.push_back(put.item);
    return Done{};
  }
  Status Read(const tables::DeleteRequest& request) {
    if (request.condition) return NotServed("a conditional write of a single row");
    change_.removes.push_back(TextIn(request.key, attempts::kSortAttribute));
    return SetSubject(request.key);
  }
  Status Read(const tables::UpdateRequest&) { return NotServed("updating a single row"); }
  Status Read(const tables::ConditionCheck&) { return NotServed("such a check"); }

  Result<bool> WriteTo(TwoStores* stores) const {
    if (!has_head_ || !subject_) return NotServed("a write without the subject's head");
    return stores->Write(*subject_, change_);
  }

 private:
  Status SetSubject(const Item& item) {
    auto subject = TRY(attempts::Subject::Parse(TextIn(item, attempts::kPartitionAttribute)));
    if (subject_ && *subject_ != subject) return NotServed("a write for two subjects");
    subject_ = std::move(subject);
    return Done{};
  }

  std::optional<attempts::Subject> subject_;
  Change change_;
  bool has_head_ = false;
};

// The head has the version of both stores, so that a change in either is noticed.
std::vector<Item> ItemsOf(const attempts::Subject& subject, View view) {
  if (view.version) SetVersion(subject, *view.version, view.now, &view.rows);
  std::vector<Item> items = EncodeRows(subject, view.rows);
  std::erase_if(items, [](const Item& item) {
    return TextIn(item, attempts::kSortAttribute) == kGenerationsKey;
  });
  return items;
}

}  // namespace

Result<bool> MovingTables::Passes(const std::string& table) {
  if (table != table_) return true;
  return TRY(stores_.CurrentPhase()).phase == Phase::kNew;
}

Result<bool> MovingTables::Passes(const tables::TransactWriteRequest& request) {
  for (const tables::TransactAction& action : request.actions) {
    if (!TRY(Passes(TableOf(action)))) return false;
  }
  return true;
}

Status MovingTables::CheckPasses(const std::string& table, const std::string& what) {
  if (!TRY(Passes(table))) return NotServed(what);
  return Done{};
}

Result<tables::Page> MovingTables::Query(const tables::QueryRequest& request) {
  if (TRY(Passes(request.table))) return inner_.Query(request);
  const attempts::Subject subject = TRY(SubjectOf(request));
  View view = TRY(stores_.Load(subject));
  stores_.Compare(subject, view);
  tables::Page page{.items = ItemsOf(subject, std::move(view))};
  page.count = page.scanned = page.items.size();
  return page;
}

Result<tables::WriteReply> MovingTables::Put(const tables::PutRequest& request) {
  if (TRY(Passes(request.table))) return inner_.Put(request);
  ChangeReader reader;
  TRY(reader.Read(request));
  const bool applied = TRY(reader.WriteTo(&stores_));
  return tables::WriteReply{.applied = applied};
}

Result<tables::TransactWriteReply> MovingTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  if (TRY(Passes(request))) return inner_.TransactWrite(request);
  ChangeReader reader;
  for (const tables::TransactAction& action : request.actions) {
    if (TableOf(action) != table_) return NotServed("a write of attempts and another table");
    TRY(std::visit([&](const auto& one) { return reader.Read(one); }, action));
  }
  tables::TransactWriteReply reply;
  if (TRY(reader.WriteTo(&stores_))) return reply;
  reply.outcome = tables::TransactOutcome::kCancelled;
  reply.reasons.resize(request.actions.size());
  reply.reasons.front().code = tables::CancellationCode::kConditionalCheckFailed;
  return reply;
}

void MovingTables::Submit(const WriteRequest& request,
                          std::function<void(Result<tables::WriteReply>)> done) {
  const auto passes = std::visit([&](const auto& one) { return Passes(one.table); }, request);
  if (passes && *passes) return inner_.Submit(request, std::move(done));
  Tables::Submit(request, std::move(done));
}

void MovingTables::Submit(const tables::TransactWriteRequest& request,
                          std::function<void(Result<tables::TransactWriteReply>)> done) {
  const auto passes = Passes(request);
  if (passes && *passes) return inner_.Submit(request, std::move(done));
  Tables::Submit(request, std::move(done));
}

Result<std::optional<Item>> MovingTables::Get(const tables::GetRequest& request) {
  TRY(CheckPasses(request.table, "reading a single row"));
  return inner_.Get(request);
}

Result<tables::WriteReply> MovingTables::Update(const tables::UpdateRequest& request) {
  TRY(CheckPasses(request.table, "updating a single row"));
  return inner_.Update(request);
}

Result<tables::WriteReply> MovingTables::Delete(const tables::DeleteRequest& request) {
  TRY(CheckPasses(request.table, "removing a single row"));
  return inner_.Delete(request);
}

Result<tables::Page> MovingTables::Scan(const tables::ScanRequest& request) {
  TRY(CheckPasses(request.table, "reading all rows"));
  return inner_.Scan(request);
}

Result<tables::BatchGetReply> MovingTables::BatchGet(const tables::BatchGetRequest& request) {
  for (const auto& [table, part] : request.tables) TRY(CheckPasses(table, "reading many rows"));
  return inner_.BatchGet(request);
}

Result<tables::BatchWriteReply> MovingTables::BatchWrite(const tables::BatchWriteRequest& request) {
  for (const auto& [table, actions] : request.tables) {
    TRY(CheckPasses(table, "writing many rows"));
  }
  return inner_.BatchWrite(request);
}

Result<tables::TransactGetReply> MovingTables::TransactGet(
    const tables::TransactGetRequest& request) {
  for (const tables::GetRequest& get : request.gets) {
    TRY(CheckPasses(get.table, "reading single rows"));
  }
  return inner_.TransactGet(request);
}

Result<tables::TableDescription> MovingTables::DeleteTable(const std::string& table) {
  TRY(CheckPasses(table, "deleting the table"));
  return inner_.DeleteTable(table);
}

}  // namespace tidemark::moving
