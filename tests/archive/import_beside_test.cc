// Events that are stored while an import runs, and tables that fail during an import.
#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/import_world.h"
#include "tests/support/forwarding_tables.h"

namespace tidemark::archive {
namespace {

constexpr const char* kEdited = "1620090000.000300";

bool HasMessage(const tables::TransactWriteRequest& request) {
  for (const tables::TransactAction& action : request.actions) {
    const auto* put = std::get_if<tables::PutRequest>(&action);
    if (put != nullptr && TextIn(put->item, "type") == "message") return true;
  }
  return false;
}

// Lets a test do something after the import has read the table and before it writes.
class WatchedTables final : public testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;

  Result<tables::TransactWriteReply> TransactWrite(
      const tables::TransactWriteRequest& request) override {
    if (HasMessage(request) && before_messages) TRY(std::exchange(before_messages, nullptr)());
    return ForwardingTables::TransactWrite(request);
  }

  std::function<Status()> before_messages;
};

class ImportBesideTest : public ::testing::Test {
 protected:
  ImportBesideTest() { WriteFolder(SmallExport(), folder_.path()); }

  Result<ImportReport> Import() {
    ImportParts parts = world_.parts();
    parts.tables = &watched_;
    ImportProgress progress;
    return ImportExport(folder_.path(), {}, parts, &progress);
  }

  TempFolder folder_;
  ImportWorld world_;
  WatchedTables watched_{&world_.tables_};
};

// An event that is stored between the import's read and its write is not overwritten.
TEST_F(ImportBesideTest, AnEventDuringTheImportIsKept) {
  watched_.before_messages = [&]() -> Status {
    world_.Post(
        R"({"type":"message","subtype":"message_changed","channel":"C1X","channel_type":"channel",)"
        R"("ts":"1620099999.000000","event_ts":"1620099999.000000","message":{"type":"message",)"
        R"("user":"U1X","text":"newest","ts":"1620090000.000300",)"
        R"("edited":{"user":"U1X","ts":"1620099999.000000"}}})");
    return Done{};
  };
  const auto report = Import();
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->messages.stored_new, 2u);
  EXPECT_EQ(report->messages.updated, 1u);
  EXPECT_EQ(TextIn(world_.MessageRow(kEdited), "text"), "newest");
  const item::Item version =
      world_.Row(std::string("meta#T1X#versions#C1X#") + kEdited, "1620090060.000000");
  EXPECT_EQ(TextIn(version, "text"), "new text");
}

// A failure is reported, no coverage is marked, and another run adds the rest.
TEST_F(ImportBesideTest, AFailureIsReportedAndAnotherRunAddsTheRest) {
  watched_.before_messages = []() -> Status {
    return Error{ErrorCode::kUnavailable, "the disk is full"};
  };
  const auto failed = Import();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "the disk is full");
  const Place place{*slack::TeamId::Parse("T1X"), *slack::ChannelId::Parse("C1X")};
  EXPECT_TRUE(world_.ledger_.Marks(place)->empty());

  ASSERT_TRUE(Import().has_value());
  ImportWorld whole;
  whole.Import(SmallExport());
  EXPECT_EQ(world_.Rows(), whole.Rows());
}

// More rows than one transaction can have.
TEST_F(ImportBesideTest, ManyMessagesAreAllStored) {
  ExportTexts texts = SmallExport();
  std::string& day = texts["general/2021-06-01.json"];
  for (int i = 0; i < 345; ++i) {
    day += fmt::format(R"({}{{"type":"message","user":"U1X","text":"{}","ts":"{}.000100",)"
                       R"("reactions":[{{"name":"one","users":["U1X","U1X","U2X"]}}]}})",
                       i == 0 ? "[" : ",\n", i, 1'622'500'000 + i);
  }
  day += "]";
  const ImportReport report = world_.Import(texts);
  EXPECT_EQ(report.messages.stored_new, 348u);
  EXPECT_EQ(report.messages.reactions, 2u + 2 * 345);
  const ImportReport again = world_.Import(texts);
  EXPECT_EQ(again.messages.unchanged, 348u);
  EXPECT_EQ(again.messages.reactions, 0u);
}

}  // namespace
}  // namespace tidemark::archive
