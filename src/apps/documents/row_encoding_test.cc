#include "apps/documents/row_encoding.h"

#include <string>

#include <gtest/gtest.h>

#include "apps/documents/document_store.h"
#include "apps/documents/limits.h"
#include "item/attributes.h"
#include "item/size.h"

namespace tidemark::documents {
namespace {

using item::IntIn;
using item::TextIn;

constexpr EpochSeconds kCreated = 1'729'123'456;
constexpr EpochSeconds kModified = 1'729'234'567;

constexpr std::string_view kChange =
    R"({"object_type":"change","changeId":"CHG-2025-001","changeTitle":"T","status":"approved",)"
    R"("customers":["hts","cds"],"createdAt":"2024-10-17T00:04:16Z",)"
    R"("modifiedAt":"2024-10-18T06:56:07Z","unknown" : [1.50]})";
constexpr std::string_view kAnnouncement =
    R"({"object_type":"announcement_finops","announcement_id":"FIN-1","title":"Cheaper",)"
    R"("customers":["cds"],"status":"draft","created_at":1729123456})";

Row RowOf(std::string_view json) {
  Document document = *Document::Parse(std::string(json));
  Row row{.id = document.id(), .revision = "r1"};
  return CommitVersion({}, std::move(row), std::move(document), "etag-1",
                       std::chrono::milliseconds(1'729'234'567'123));
}

// The seed's example.
// Spec: 002-01
TEST(RowEncodingTest, WritesTheAttributesOfTheSeed) {
  const item::Item item = EncodeRow({}, RowOf(kChange));
  EXPECT_EQ(TextIn(item, "object_id"), "CHG-2025-001");
  EXPECT_EQ(TextIn(item, "object_type"), "change");
  EXPECT_EQ(TextIn(item, "customer_code"), "hts");
  EXPECT_EQ(*item.Find("customers"), item::Value(item::StringSet({"cds", "hts"})));
  EXPECT_EQ(TextIn(item, "status"), "approved");
  EXPECT_EQ(IntIn(item, "created_at"), kCreated);
  EXPECT_EQ(IntIn(item, "modified_at"), kModified);
  EXPECT_EQ(TextIn(item, "s3_bucket"), "ccoe-change-metadata");
  EXPECT_EQ(TextIn(item, "s3_key"), "archive/CHG-2025-001.json");
  EXPECT_EQ(TextIn(item, "document_json"), kChange);
}

// Spec: 002-02
TEST(RowEncodingTest, ARowLivesForNinetyDays) {
  EXPECT_EQ(CalculateTtl(kCreated, kCreated, std::chrono::hours(24 * 90)), 1'736'899'456);
}

// A document that is edited on day 89 must not vanish on day 90.
TEST(RowEncodingTest, TheLifeBeginsAtTheLastModification) {
  EXPECT_EQ(IntIn(EncodeRow({}, RowOf(kChange)), "ttl"), kModified + 90 * 86'400);
}

// Both kinds, with their own types and every byte.
// Spec: 002-03
TEST(RowEncodingTest, DecodesWhatItEncoded) {
  for (const std::string_view json : {kChange, kAnnouncement}) {
    const Row row = RowOf(json);
    const auto decoded = DecodeRow(EncodeRow({}, row));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, row);
    EXPECT_EQ(decoded->committed->document->json(), json);
    EXPECT_EQ(decoded->committed->document->details(), row.committed->document->details());
  }
}

// Spec: 002-04
TEST(RowEncodingTest, AnnouncementsShareOneKeyAndKeepTheirType) {
  const item::Item item = EncodeRow({}, RowOf(kAnnouncement));
  EXPECT_EQ(TextIn(item, "object_type"), "announcement");
  EXPECT_EQ(std::get<Announcement>(DecodeRow(item)->committed->document->details()).type, "finops");
}

// An index key must not be empty.
TEST(RowEncodingTest, LeavesOutCustomersWhenThereAreNone) {
  std::string json(kChange);
  json.replace(json.find(R"(["hts","cds"])"), 13, "[]");
  const item::Item item = EncodeRow({}, RowOf(json));
  EXPECT_FALSE(item.Contains("customer_code"));
  EXPECT_FALSE(item.Contains("customers"));
  EXPECT_TRUE(EncodePointers(RowOf(json)).empty());
}

TEST(RowEncodingTest, EveryCustomerButTheFirstHasAPointer) {
  const std::vector<item::Item> pointers = EncodePointers(RowOf(kChange));
  ASSERT_EQ(pointers.size(), 1U);
  EXPECT_EQ(TextIn(pointers[0], "object_id"), "CHG-2025-001#cds");
  EXPECT_EQ(TextIn(pointers[0], "customer_code"), "cds");
  EXPECT_EQ(IntIn(pointers[0], "created_at"), kCreated);
  EXPECT_EQ(DecodePointer(pointers[0]), "CHG-2025-001");
  // It is in no other index, and it is not a row.
  EXPECT_FALSE(pointers[0].Contains("object_type"));
  EXPECT_FALSE(pointers[0].Contains("status"));
  EXPECT_EQ(DecodeRow(pointers[0]), std::nullopt);
}

// A tombstone is in no index. It keeps the ETag of the version that was deleted.
TEST(RowEncodingTest, DecodesATombstone) {
  Row row{.id = "CHG-1", .revision = "r"};
  row.tombstone = Tombstone{.etag = "e", .deleted_at = kCreated, .ttl = kCreated + 86'400};
  const item::Item item = EncodeRow({}, row);
  EXPECT_FALSE(item.Contains("object_type"));
  EXPECT_FALSE(item.Contains("created_at"));
  EXPECT_EQ(DecodeRow(item), row);
  EXPECT_FALSE(IsServable(row, kCreated));
}

// The sweeper must not remove a row that somebody is writing. Readers still see when it expires.
TEST(RowEncodingTest, AnIntentHidesTheTtlFromTheSweeper) {
  Row row = RowOf(kChange);
  row.intent = Intent{.txn = "t1", .base_etag = "etag-1", .started = std::chrono::milliseconds(5)};
  const item::Item item = EncodeRow({}, row);
  EXPECT_FALSE(item.Contains("ttl"));
  EXPECT_EQ(DecodeRow(item), row);
  EXPECT_TRUE(IsServable(*DecodeRow(item), row.committed->ttl - 1));
  EXPECT_FALSE(IsServable(*DecodeRow(item), row.committed->ttl));
}

// A row without a version is in no index but that of types, under "~intent".
TEST(RowEncodingTest, AFirstWriteIsListedByItsIntent) {
  Row row{.id = "CHG-1", .revision = "r"};
  row.intent = Intent{.txn = "t1",
                      .kind = IntentKind::kDelete,
                      .base_etag = std::nullopt,
                      .started = std::chrono::milliseconds(7'500)};
  const item::Item item = EncodeRow({}, row);
  EXPECT_EQ(TextIn(item, "object_type"), "~intent");
  EXPECT_EQ(IntIn(item, "created_at"), 7);
  EXPECT_FALSE(item.Contains("ttl"));
  EXPECT_EQ(DecodeRow(item), row);
}

// A document that is larger than an item is still found by queries, and is read from its object.
TEST(RowEncodingTest, LeavesALargeDocumentOutOfItsRow) {
  std::string json(kChange);
  json.insert(json.size() - 1, R"(,"note":")" + std::string(410'000, 'x') + "\"");
  const Row row = RowOf(json);
  const item::Item item = EncodeRow({}, row);
  EXPECT_LE(item::SizeBytes(item), kMaxRowBytes);
  const auto decoded = DecodeRow(item);
  ASSERT_TRUE(decoded && decoded->committed);
  EXPECT_EQ(decoded->committed->document, std::nullopt);
  EXPECT_EQ(decoded->committed->facts, row.committed->facts);
}

// Stored items are not trusted: the text may be damaged or be that of another document.
TEST(RowEncodingTest, DoesNotDecodeADamagedDocument) {
  item::Item item = EncodeRow({}, RowOf(kChange));
  item.Set("document_json", std::string("{\"object_type\":"));
  EXPECT_EQ(DecodeRow(item)->committed->document, std::nullopt);
  item.Set("document_json", std::string(kAnnouncement));
  EXPECT_EQ(DecodeRow(item)->committed->document, std::nullopt);
  // The text of another document that differs in nothing but its id.
  std::string other(kChange);
  const size_t place = other.find(RowOf(kChange).id);
  ASSERT_NE(place, std::string::npos);
  other[place] = 'X';
  item.Set("document_json", other);
  item.Erase("document_hash");
  EXPECT_EQ(DecodeRow(item)->committed->document, std::nullopt);
  item.Erase("status");
  EXPECT_EQ(DecodeRow(item)->committed, std::nullopt);
  EXPECT_EQ(DecodeRow({}), std::nullopt);
  EXPECT_EQ(DecodeRow({{"object_id", "~coverage"}}), std::nullopt);
  // A row without a ttl never expires, so it is not served.
  item = EncodeRow({}, RowOf(kChange));
  item.Erase("ttl");
  EXPECT_FALSE(IsServable(*DecodeRow(item), 1));
}

TEST(RowEncodingTest, OnlyKeysBelowThePrefixNameDocuments) {
  EXPECT_EQ(IdOfKey({}, "archive/CHG-1.json"), "CHG-1");
  for (const char* key :
       {"drafts/CHG-1.json", "customers/hts/CHG-1.json", "archive/CHG-1", "archive/.json",
        "archive/a/CHG-1.json", "archive/...json", "xarchive/CHG-1.json", ""}) {
    EXPECT_EQ(IdOfKey({}, key), std::nullopt) << key;
  }
}

// Its row would expire at once and be a miss on every read.
TEST(RowTest, DoesNotCacheADocumentThatIsTooOld) {
  const Document document = *Document::Parse(std::string(kChange));
  const std::chrono::seconds end(kModified + 90 * 86'400);
  const Row row{.id = document.id()};
  EXPECT_TRUE(CommitVersion({}, row, document, "e", end - std::chrono::seconds(1)).committed);
  const Row old = CommitVersion({}, row, document, "e", end);
  EXPECT_FALSE(old.committed);
  EXPECT_TRUE(old.tombstone);
}

}  // namespace
}  // namespace tidemark::documents
