#include "apps/documents/row_encoding.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/document_store.h"
#include "apps/documents/limits.h"
#include "base/hashing.h"
#include "item/attributes.h"
#include "item/size.h"

namespace tidemark::documents {

namespace {

using item::IntIn;
using item::Item;
using item::MaybeTextIn;
using item::Number;
using item::TextIn;

void SetInt(Item& item, std::string_view name, int64_t value) {
  item.Set(name, Number::FromInt(value));
}

// An index does not accept an empty key, so an attribute without a value is left out.
void EncodeFacts(const DocumentFacts& facts, Item& item) {
  item.Set("object_type", std::string(ToString(facts.kind)));
  item.Set("status", std::string(ToString(facts.status)));
  SetInt(item, "created_at", facts.created_at);
  SetInt(item, "modified_at", facts.modified_at);
  if (facts.customers.empty()) return;
  item.Set("customer_code", facts.customers.front());
  item.Set("customers", item::StringSet(facts.customers));
}

std::string HashOf(std::string_view json) { return fmt::format("{:016x}", FastHash(json)); }

void EncodeCommitted(const DocumentsOptions& options, const Row& row, Item& item) {
  EncodeFacts(row.committed->facts, item);
  item.Set("s3_bucket", options.bucket);
  item.Set("s3_key", ObjectKey(options, row.id));
  item.Set("s3_etag", row.committed->etag);
  if (!row.committed->document) return;
  item.Set("document_json", row.committed->document->json());
  item.Set("document_hash", HashOf(row.committed->document->json()));
}

// When the version or the tombstone ends; nullopt when the row is blank.
std::optional<EpochSeconds> TtlOf(const Row& row) {
  if (row.committed) return row.committed->ttl;
  return row.tombstone ? std::optional(row.tombstone->ttl) : std::nullopt;
}

// A row with an intent must outlive its ttl, because the intent is the only trace of the write. So
// the ttl moves into the intent, where the sweeper does not see it.
void EncodeIntent(const Row& row, Item& item) {
  Item intent{{"txn", row.intent->txn},
              {"kind", row.intent->kind == IntentKind::kPut ? "put" : "delete"},
              {"started_at", Number::FromInt(row.intent->started.count())}};
  if (!row.intent->process.empty()) intent.Set("process", row.intent->process);
  if (row.intent->base_etag) intent.Set("base_etag", *row.intent->base_etag);
  if (const auto ttl = TtlOf(row)) SetInt(intent, "ttl", *ttl);
  item.Set("intent", std::move(intent));
  if (row.committed) return;
  item.Set("object_type", std::string(kIntentPartition));
  SetInt(item, "created_at",
         std::chrono::duration_cast<std::chrono::seconds>(row.intent->started).count());
}

std::optional<Intent> DecodeIntent(const Item& item) {
  const item::Value* value = item.Find("intent");
  const item::Map* map = value ? value->As<item::Map>() : nullptr;
  if (!map) return std::nullopt;
  const int64_t started_ms = IntIn(*map, "started_at").value_or(0);
  return Intent{
      .txn = TextIn(*map, "txn"),
      .kind = TextIn(*map, "kind") == "delete" ? IntentKind::kDelete : IntentKind::kPut,
      .base_etag = MaybeTextIn(*map, "base_etag"),
      .started = std::chrono::milliseconds(std::clamp<int64_t>(started_ms, 0, kLastSecond * 1000)),
      .process = TextIn(*map, "process")};
}

// Returns 0, which is long over, when there is none: such a row is never served.
EpochSeconds DecodeTtl(const Item& item) {
  if (const auto ttl = IntIn(item, "ttl")) return *ttl;
  const item::Value* value = item.Find("intent");
  const item::Map* intent = value ? value->As<item::Map>() : nullptr;
  return intent ? IntIn(*intent, "ttl").value_or(0) : 0;
}

// A set has no order. The customer of the index was the first one of the document.
std::vector<std::string> DecodeCustomers(const Item& item) {
  std::vector<std::string> customers;
  if (auto first = MaybeTextIn(item, "customer_code")) customers.push_back(*std::move(first));
  const item::Value* value = item.Find("customers");
  const item::StringSet* set = value ? value->As<item::StringSet>() : nullptr;
  if (!set) return customers;
  for (const std::string& customer : set->members()) {
    if (customers.empty() || customer != customers.front()) customers.push_back(customer);
  }
  return customers;
}

// The document has its customers in their order, the set has not. The attributes are what queries
// find the row by: when they name others than the document, they stay as they are stored.
void RestoreOrder(const std::vector<std::string>& in_order, std::vector<std::string>& customers) {
  const bool is_same_first = in_order.empty()
                                 ? customers.empty()
                                 : !customers.empty() && customers.front() == in_order.front();
  if (is_same_first &&
      std::is_permutation(customers.begin(), customers.end(), in_order.begin(), in_order.end())) {
    customers = in_order;
  }
}

std::optional<DocumentFacts> DecodeFacts(const Item& item) {
  const auto kind = ParseDocumentKind(TextIn(item, "object_type"));
  const auto status = ParseDocumentStatus(TextIn(item, "status"));
  const auto created_at = IntIn(item, "created_at");
  if (!kind || !status || !created_at) return std::nullopt;
  return DocumentFacts{.kind = *kind,
                       .status = *status,
                       .customers = DecodeCustomers(item),
                       .created_at = *created_at,
                       .modified_at = IntIn(item, "modified_at").value_or(*created_at)};
}

std::optional<Document> DecodeDocument(const Item& item, const std::string& id) {
  const std::string* json = item::FindText(item, "document_json");
  const std::string* hash = item::FindText(item, "document_hash");
  if (!json || (hash && *hash != HashOf(*json))) return std::nullopt;
  Result<Document> document = Document::Parse(*json);
  if (!document || document->id() != id) return std::nullopt;
  return *std::move(document);
}

std::optional<Committed> DecodeCommitted(const Item& item) {
  std::optional<DocumentFacts> facts = DecodeFacts(item);
  if (!facts) return std::nullopt;
  return Committed{.facts = *std::move(facts),
                   .document = std::nullopt,
                   .etag = TextIn(item, "s3_etag"),
                   .ttl = DecodeTtl(item)};
}

// The row without its document.
std::optional<Row> DecodeWithoutDocument(const Item& item) {
  std::optional<std::string> id = MaybeTextIn(item, "object_id");
  if (!id || !ValidateId(*id)) return std::nullopt;
  Row row{.id = *std::move(id),
          .revision = TextIn(item, "revision"),
          .intent = DecodeIntent(item),
          .verified = std::chrono::milliseconds(IntIn(item, "verified_at").value_or(0))};
  if (const auto deleted_at = IntIn(item, "deleted_at")) {
    row.tombstone = Tombstone{
        .etag = TextIn(item, "s3_etag"), .deleted_at = *deleted_at, .ttl = DecodeTtl(item)};
  } else {
    row.committed = DecodeCommitted(item);
  }
  return row;
}

}  // namespace

Item EncodeRow(const DocumentsOptions& options, const Row& row) {
  Item item{{"object_id", row.id}, {"revision", row.revision}};
  SetInt(item, "verified_at", row.verified.count());
  if (row.committed) EncodeCommitted(options, row, item);
  if (row.tombstone) {
    item.Set("s3_etag", row.tombstone->etag);
    SetInt(item, "deleted_at", row.tombstone->deleted_at);
  }
  if (row.intent) {
    EncodeIntent(row, item);
  } else if (const auto ttl = TtlOf(row)) {
    SetInt(item, "ttl", *ttl);
  }
  // The row stays without the document, so that ranges still find it.
  if (item::SizeBytes(item) > kMaxRowBytes) {
    item.Erase("document_json");
    item.Erase("document_hash");
  }
  return item;
}

std::optional<Row> DecodeRow(const Item& item) {
  std::optional<Row> row = DecodeWithoutDocument(item);
  if (!row || !row->committed) return row;
  row->committed->document = DecodeDocument(item, row->id);
  if (row->committed->document) {
    RestoreOrder(row->committed->document->facts().customers, row->committed->facts.customers);
  }
  return row;
}

std::optional<UnparsedRow> DecodeUnparsedRow(Item item) {
  std::optional<Row> row = DecodeWithoutDocument(item);
  if (!row) return std::nullopt;
  UnparsedRow unparsed{.row = *std::move(row), .json = std::nullopt};
  item::Value* value = item.Find("document_json");
  std::string* json = value ? value->As<std::string>() : nullptr;
  if (!json || !unparsed.row.committed) return unparsed;
  // A text that matches its hash was a valid document when the row was written. Parsing it again
  // would take most of the time of a range.
  const std::string* hash = item::FindText(item, "document_hash");
  const bool is_sound =
      hash ? *hash == HashOf(*json) : DecodeDocument(item, unparsed.row.id).has_value();
  if (is_sound) unparsed.json = std::move(*json);
  return unparsed;
}

std::string PointerKey(std::string_view id, std::string_view customer) {
  return fmt::format("{}#{}", id, customer);
}

std::vector<Item> EncodePointers(const Row& row) {
  std::vector<Item> pointers;
  if (!row.committed) return pointers;
  const DocumentFacts& facts = row.committed->facts;
  for (size_t i = 1; i < facts.customers.size(); ++i) {
    pointers.push_back({{"object_id", PointerKey(row.id, facts.customers[i])},
                        {"document_id", row.id},
                        {"customer_code", facts.customers[i]},
                        {"created_at", Number::FromInt(facts.created_at)},
                        {"ttl", Number::FromInt(row.committed->ttl)}});
  }
  return pointers;
}

std::optional<std::string> DecodePointer(const Item& item) {
  std::optional<std::string> id = MaybeTextIn(item, "document_id");
  if (!id || !ValidateId(*id)) return std::nullopt;
  if (TextIn(item, "object_id") != PointerKey(*id, TextIn(item, "customer_code"))) {
    return std::nullopt;
  }
  return id;
}

}  // namespace tidemark::documents
