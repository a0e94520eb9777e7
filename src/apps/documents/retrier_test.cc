#include "apps/documents/retrier.h"

#include <gtest/gtest.h>

namespace tidemark::documents {
namespace {

TEST(TranslateErrorTest, TranslatesErrorsOfStoresIntoErrorsOfDocuments) {
  struct Case {
    Store store;
    ErrorCode from;
    ErrorCode to;
    bool retryable;
  };
  for (const Case& c : {
           Case{Store::kTable, ErrorCode::kUnavailable, ErrorCode::kThrottled, true},
           Case{Store::kObjects, ErrorCode::kUnavailable, ErrorCode::kUnreachable, true},
           Case{Store::kTable, ErrorCode::kConflict, ErrorCode::kThrottled, true},
           Case{Store::kTable, ErrorCode::kInUse, ErrorCode::kThrottled, true},
           Case{Store::kTable, ErrorCode::kUnknown, ErrorCode::kUnknown, true},
           // The caller has not made these mistakes.
           Case{Store::kTable, ErrorCode::kInvalid, ErrorCode::kInternal, false},
           Case{Store::kTable, ErrorCode::kNotFound, ErrorCode::kInternal, false},
           Case{Store::kTable, ErrorCode::kDenied, ErrorCode::kDenied, false},
           Case{Store::kObjects, ErrorCode::kCorrupt, ErrorCode::kCorrupt, false},
       }) {
    const Error error = TranslateError(c.store, "reading", {c.from, "the cause"});
    EXPECT_EQ(error.code, c.to) << ToString(c.from);
    EXPECT_EQ(IsRetryable(error.code), c.retryable) << ToString(c.from);
  }
}

TEST(TranslateErrorTest, KeepsTheMessageOfTheStore) {
  EXPECT_EQ(
      TranslateError(Store::kTable, "reading a row", {ErrorCode::kDenied, "no right"}).message,
      "the table: reading a row: no right");
}

TEST(CombineErrorsTest, NamesBothStores) {
  const Error busy{ErrorCode::kThrottled, "the table: reading: busy"};
  const Error denied{ErrorCode::kDenied, "the object store: opening: no right"};
  EXPECT_EQ(CombineErrors(busy, denied),
            (Error{ErrorCode::kUnavailable,
                   "the table: reading: busy; the object store: opening: no right"}));
  // Neither recovers by itself.
  EXPECT_EQ(CombineErrors(denied, denied).code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace tidemark::documents
