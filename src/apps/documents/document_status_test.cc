#include "apps/documents/document_status.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace tidemark::documents {
namespace {

using enum DocumentStatus;

constexpr DocumentStatus kAll[] = {kDraft, kSubmitted, kApproved, kCompleted, kCancelled};

TEST(DocumentStatusTest, NamesAndStatusesAreTheSame) {
  for (const DocumentStatus status : kAll) {
    EXPECT_EQ(ParseDocumentStatus(ToString(status)), status);
  }
  EXPECT_EQ(ParseDocumentStatus("Draft"), std::nullopt);
  EXPECT_EQ(ParseDocumentStatus(""), std::nullopt);
}

// All pairs, so that nothing is allowed by accident.
TEST(DocumentStatusTest, OnlyTheStatedTransitionsAreAllowed) {
  const std::set<std::pair<DocumentStatus, DocumentStatus>> allowed = {
      {kDraft, kSubmitted},    {kSubmitted, kApproved}, {kSubmitted, kCancelled},
      {kApproved, kCompleted}, {kApproved, kCancelled}, {kApproved, kSubmitted}};
  for (const DocumentStatus from : kAll) {
    for (const DocumentStatus to : kAll) {
      EXPECT_EQ(VerifyTransition(from, to).has_value(), from == to || allowed.contains({from, to}))
          << ToString(from) << " to " << ToString(to);
    }
  }
}

TEST(DocumentStatusTest, OnlyDraftsAndCancelledOnesAreDeleted) {
  for (const DocumentStatus status : kAll) {
    EXPECT_EQ(VerifyDeletable(status).has_value(), status == kDraft || status == kCancelled);
  }
}

}  // namespace
}  // namespace tidemark::documents
