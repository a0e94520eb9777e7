#include "apps/documents/document.h"

#include <string>

#include <gtest/gtest.h>

#include "apps/documents/limits.h"

namespace tidemark::documents {
namespace {

constexpr std::string_view kChange =
    R"({"object_type":"change","changeId":"CHG-1","changeTitle":"T",)"
    R"("customers":["hts","cds","hts"],)"
    R"("status":"approved","version":3,"createdAt":"2024-10-17T00:04:16Z",)"
    R"("modifiedAt":"2024-10-18T06:56:07Z","modifications":[{"user_id":"u"}]})";

constexpr std::string_view kAnnouncement =
    R"({"object_type":"announcement_finops","announcement_id":"FIN-1","title":"Cheaper",)"
    R"("customers":["cds"],"status":"draft","created_at":1729123456})";

std::string With(std::string_view json, std::string_view from, std::string_view to) {
  std::string text(json);
  text.replace(text.find(from), from.size(), to);
  return text;
}

// The message must name the member: whoever wrote the document has to find it.
void ExpectRefused(const std::string& json, std::string_view fragment) {
  const auto document = Document::Parse(json);
  ASSERT_FALSE(document.has_value()) << json;
  EXPECT_EQ(document.error().code, ErrorCode::kInvalid);
  EXPECT_NE(document.error().message.find(fragment), std::string::npos) << document.error().message;
}

TEST(DocumentTest, ReadsAChange) {
  const auto document = Document::Parse(std::string(kChange));
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->id(), "CHG-1");
  EXPECT_EQ(std::get<Change>(document->details()).title, "T");
  EXPECT_EQ(document->facts().kind, DocumentKind::kChange);
  EXPECT_EQ(document->facts().customers, (std::vector<std::string>{"hts", "cds"}));
  EXPECT_EQ(document->facts().status, DocumentStatus::kApproved);
  EXPECT_EQ(document->facts().created_at, 1'729'123'456);
  EXPECT_EQ(document->facts().modified_at, 1'729'234'567);
  EXPECT_EQ(document->version(), 3);
}

TEST(DocumentTest, ReadsAnAnnouncement) {
  const auto document = Document::Parse(std::string(kAnnouncement));
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->id(), "FIN-1");
  EXPECT_EQ(std::get<Announcement>(document->details()),
            (Announcement{.type = "finops", .title = "Cheaper"}));
  EXPECT_EQ(document->facts().kind, DocumentKind::kAnnouncement);
  EXPECT_EQ(document->facts().modified_at, 1'729'123'456);
}

// What is not known, and how it is written, belongs to the document.
TEST(DocumentTest, KeepsEveryByte) {
  const std::string json =
      With(kChange, R"("changeId")", "\"weird\" :\t[1.0e+2, \"\\u0041\"] ,\n\"changeId\"");
  const auto document = Document::Parse(json);
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->json(), json);
}

TEST(DocumentTest, WithoutStatusItIsSubmitted) {
  for (const char* status : {"", R"("status":null,)", R"("status":"",)"}) {
    const auto document = Document::Parse(With(kChange, R"("status":"approved",)", status));
    ASSERT_TRUE(document.has_value()) << document.error().message;
    EXPECT_EQ(document->facts().status, DocumentStatus::kSubmitted);
  }
}

// Spec: 002-06
TEST(DocumentTest, RefusesWhatCannotBeStored) {
  ExpectRefused("", "not JSON");
  ExpectRefused("[]", "not a JSON object");
  ExpectRefused(With(kChange, R"("changeId":"CHG-1")", R"("changeId":"")"), "changeId");
  ExpectRefused(With(kChange, R"("changeId":"CHG-1",)", ""), "changeId");
  ExpectRefused(With(kChange, R"("changeTitle":"T",)", ""), "changeTitle");
  ExpectRefused(With(kChange, R"("change",)", R"("incident",)"), "object_type");
  ExpectRefused(With(kChange, R"("object_type":"change",)", ""), "object_type");
  ExpectRefused(With(kAnnouncement, "announcement_finops", "announcement_"), "object_type");
  ExpectRefused(With(kAnnouncement, "announcement_finops", "announcement"), "object_type");
  ExpectRefused(With(kAnnouncement, R"(,"created_at":1729123456)", ""), "created_at");
  ExpectRefused(With(kAnnouncement, "1729123456", "0"), "created_at");
  ExpectRefused(With(kAnnouncement, "1729123456", R"("0001-01-01T00:00:00Z")"), "created_at");
  ExpectRefused(With(kAnnouncement, "1729123456", R"("yesterday")"), "RFC 3339");
  ExpectRefused(With(kAnnouncement, "1729123456", "9223372036854775807"), "9999");
  ExpectRefused(With(kAnnouncement, R"(["cds"])", "[]"), "customers");
  ExpectRefused(With(kAnnouncement, R"(["cds"])", R"("cds")"), "customers");
  ExpectRefused(With(kAnnouncement, R"(["cds"])", R"([""])"), "customer");
  ExpectRefused(With(kChange, "approved", "Approved"), "status");
  ExpectRefused(With(kChange, R"("version":3)", R"("metadata":{"a":1})"), "metadata");
  ExpectRefused(With(kChange, R"("version":3)", R"("source":"portal")"), "source");
}

// Ids are parts of keys: of the object, and of pointers.
TEST(DocumentTest, RefusesIdsThatWouldBreakKeys) {
  for (const std::string& id : {std::string("a/b"), std::string("a#b"), std::string(".."),
                                std::string("."), std::string("~coverage"), std::string("a\nb"),
                                std::string(kMaxIdBytes + 1, 'a'), std::string()}) {
    EXPECT_FALSE(ValidateId(id).has_value()) << id;
  }
  for (const std::string& id : {std::string("CHG-2025-001"), std::string("Größe 1+1"),
                                std::string(kMaxIdBytes, 'a'), std::string("a~b.c")}) {
    EXPECT_TRUE(ValidateId(id).has_value()) << id;
  }
}

// A list without bound would not fit into a transaction.
TEST(DocumentTest, RefusesTooManyCustomers) {
  std::string customers;
  for (size_t i = 0; i < kMaxCustomers; ++i) customers += "\"c" + std::to_string(i) + "\",";
  const auto with = [&](const std::string& list) {
    return Document::Parse(With(kAnnouncement, R"(["cds"])", "[" + list + "]"));
  };
  EXPECT_EQ(with(customers.substr(0, customers.size() - 1))->facts().customers.size(),
            kMaxCustomers);
  EXPECT_FALSE(with(customers + "\"one-more\"").has_value());
}

}  // namespace
}  // namespace tidemark::documents
