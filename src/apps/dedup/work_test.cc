#include "apps/dedup/work.h"

#include <gtest/gtest.h>

namespace tidemark::dedup {
namespace {

// Spec: 004-01
TEST(KeyTest, IsTheEventIdOrElseFileAndTs) {
  EXPECT_EQ(*EventKey({.event_id = "Ev1", .team = "T1", .file_id = "F1", .ts = "1.2"}), "Ev1");
  EXPECT_EQ(*EventKey({.file_id = "F1", .ts = "1.2"}), "F1_1.2");
}

// A key with an empty part would be the same for unrelated events.
// Spec: 004-02
TEST(KeyTest, MissingPartsAreAnError) {
  for (const EventParts& parts : {EventParts{}, EventParts{.file_id = "F1"}, EventParts{.ts = "1"},
                                  EventParts{.team = "T1", .ts = "1"}}) {
    const auto key = EventKey(parts);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code, ErrorCode::kInvalid);
  }
}

// Spec: 004-03
TEST(KeyTest, TeamsDoNotShareKeys) {
  EXPECT_NE(*EventKey({.team = "T1", .file_id = "F1", .ts = "1.2"}),
            *EventKey({.team = "T2", .file_id = "F1", .ts = "1.2"}));
}

}  // namespace
}  // namespace tidemark::dedup
