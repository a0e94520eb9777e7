#include "apps/documents/document.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/documents/limits.h"

namespace tidemark::documents {
namespace {

constexpr std::string_view kDocumentChange =
    R"({"object_type":"change","changeId":"CHG-1","changeTitle":"T",)"
    R"("customers":["hts","cds","hts"],)"
    R"("status":"approved","version":3,"createdAt":"2024-10-17T00:04:16Z",)"
    R"("modifiedAt":"2024-10-18T06:56:07Z","modifications":[{"user_id":"u"}]})";

constexpr std::string_view kDocumentAnnouncement =
    R"({"object_type":"announcement_finops","announcement_id":"FIN-1","title":"Cheaper",)"
    R"("customers":["cds"],"status":"draft","created_at":1729123456})";

std::string With(std::string_view json, std::string_view from, std::string_view to) {
  std::string text(json);
  text.replace(text.find(from), from.size(), to);
  return text;
}

// The message must name the member, so that the author of the document finds it.
void ExpectRefused(const std::string& json, std::string_view fragment) {
  const auto document = Document::Parse(json);
  ASSERT_FALSE(document.has_value()) << json;
  EXPECT_EQ(document.error().code, ErrorCode::kInvalid);
  EXPECT_NE(document.error().message.find(fragment), std::string::npos) << document.error().message;
}

TEST(DocumentTest, ReadsAChange) {
  const auto document = Document::Parse(std::string(kDocumentChange));
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
  const auto document = Document::Parse(std::string(kDocumentAnnouncement));
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->id(), "FIN-1");
  EXPECT_EQ(std::get<Announcement>(document->details()),
            (Announcement{.type = "finops", .title = "Cheaper"}));
  EXPECT_EQ(document->facts().kind, DocumentKind::kAnnouncement);
  EXPECT_EQ(document->facts().modified_at, 1'729'123'456);
}

// Unknown members and the exact spelling are part of the document.
TEST(DocumentTest, KeepsEveryByte) {
  const std::string json =
      With(kDocumentChange, R"("changeId")", "\"weird\" :\t[1.0e+2, \"\\u0041\"] ,\n\"changeId\"");
  const auto document = Document::Parse(json);
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->json(), json);
}

TEST(DocumentTest, WithoutStatusItIsSubmitted) {
  for (const char* status : {"", R"("status":null,)", R"("status":"",)"}) {
    const auto document = Document::Parse(With(kDocumentChange, R"("status":"approved",)", status));
    ASSERT_TRUE(document.has_value()) << document.error().message;
    EXPECT_EQ(document->facts().status, DocumentStatus::kSubmitted);
  }
}

// Spec: 002-06
TEST(DocumentTest, RefusesWhatCannotBeStored) {
  ExpectRefused("", "not JSON");
  ExpectRefused("[]", "not a JSON object");
  ExpectRefused(With(kDocumentChange, R"("changeId":"CHG-1")", R"("changeId":"")"), "changeId");
  ExpectRefused(With(kDocumentChange, R"("changeId":"CHG-1",)", ""), "changeId");
  ExpectRefused(With(kDocumentChange, R"("changeTitle":"T",)", ""), "changeTitle");
  ExpectRefused(With(kDocumentChange, R"("change",)", R"("incident",)"), "object_type");
  ExpectRefused(With(kDocumentChange, R"("object_type":"change",)", ""), "object_type");
  ExpectRefused(With(kDocumentAnnouncement, "announcement_finops", "announcement_"), "object_type");
  ExpectRefused(With(kDocumentAnnouncement, "announcement_finops", "announcement"), "object_type");
  ExpectRefused(With(kDocumentAnnouncement, R"(,"created_at":1729123456)", ""), "created_at");
  ExpectRefused(With(kDocumentAnnouncement, "1729123456", "0"), "created_at");
  ExpectRefused(With(kDocumentAnnouncement, "1729123456", R"("0001-01-01T00:00:00Z")"),
                "created_at");
  ExpectRefused(With(kDocumentAnnouncement, "1729123456", R"("yesterday")"), "RFC 3339");
  ExpectRefused(With(kDocumentAnnouncement, "1729123456", "9223372036854775807"), "9999");
  ExpectRefused(With(kDocumentAnnouncement, R"(["cds"])", "[]"), "customers");
  ExpectRefused(With(kDocumentAnnouncement, R"(["cds"])", R"("cds")"), "customers");
  ExpectRefused(With(kDocumentAnnouncement, R"(["cds"])", R"([""])"), "customer");
  ExpectRefused(With(kDocumentChange, "approved", "Approved"), "status");
  ExpectRefused(With(kDocumentChange, R"("version":3)", R"("metadata":{"a":1})"), "metadata");
  ExpectRefused(With(kDocumentChange, R"("version":3)", R"("source":"portal")"), "source");
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
    return Document::Parse(With(kDocumentAnnouncement, R"(["cds"])", "[" + list + "]"));
  };
  EXPECT_EQ(with(customers.substr(0, customers.size() - 1))->facts().customers.size(),
            kMaxCustomers);
  EXPECT_FALSE(with(customers + "\"one-more\"").has_value());
}

// ---- States ----

using enum DocumentStatus;

constexpr DocumentStatus kAllStates[] = {kDraft, kSubmitted, kApproved, kCompleted, kCancelled};

TEST(DocumentStatusTest, EveryStatusHasAName) {
  for (const DocumentStatus status : kAllStates) {
    EXPECT_EQ(ParseDocumentStatus(ToString(status)), status);
  }
  EXPECT_EQ(ParseDocumentStatus("Draft"), std::nullopt);
  EXPECT_EQ(ParseDocumentStatus(""), std::nullopt);
}

// All pairs, so that nothing is allowed by accident.
TEST(DocumentStatusTest, AllowsOnlyTheListedTransitions) {
  const std::set<std::pair<DocumentStatus, DocumentStatus>> allowed = {
      {kDraft, kSubmitted},    {kSubmitted, kApproved}, {kSubmitted, kCancelled},
      {kApproved, kCompleted}, {kApproved, kCancelled}, {kApproved, kSubmitted}};
  for (const DocumentStatus from : kAllStates) {
    for (const DocumentStatus to : kAllStates) {
      EXPECT_EQ(VerifyTransition(from, to).has_value(), from == to || allowed.contains({from, to}))
          << ToString(from) << " to " << ToString(to);
    }
  }
}

TEST(DocumentStatusTest, OnlyDraftsAndCancelledDocumentsMayBeDeleted) {
  for (const DocumentStatus status : kAllStates) {
    EXPECT_EQ(VerifyDeletable(status).has_value(), status == kDraft || status == kCancelled);
  }
}

// Review: D11
// Another reader would take the other one.
TEST(DocumentTest, RefusesAMemberThatOccursTwice) {
  for (const char* repeated : {R"("status":"draft","status":"approved")", R"("x":{"a":1,"a":2})",
                               R"("x":[{"a":1,"a":1}])"}) {
    const auto document = Document::Parse(
        fmt::format(R"({{"object_type":"change","changeId":"CHG-1","changeTitle":"A change",)"
                    R"("createdAt":1,{}}})",
                    repeated));
    ASSERT_FALSE(document) << repeated;
    EXPECT_NE(document.error().message.find("twice"), std::string::npos);
  }
}

// Review: D10
TEST(DocumentTest, RefusesAnIdThatIsNotUtf8) {
  EXPECT_FALSE(ValidateId("CHG-\xff"));
  EXPECT_TRUE(ValidateId("CHG-\xc3\xa4"));
}

}  // namespace
}  // namespace tidemark::documents
