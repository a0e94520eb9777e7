#include "tables/embedded/stream_record.h"

#include <gtest/gtest.h>

#include "tests/support/stream_bytes.h"

namespace tidemark::embedded {
namespace {

using tables::ChangeKind;
using tables::StreamRecord;
using tables::StreamView;

StreamRecord Removal() {
  return {.sequence = SequenceText(12),
          .kind = ChangeKind::kRemove,
          .view = StreamView::kNewAndOldImages,
          .created_at = 1'700'000'000,
          .expired = true,
          .keys = {{"id", "a"}},
          .old_image = item::Item{{"id", "a"}, {"n", item::Number::FromInt(1)}}};
}

// Decoding returns exactly what was encoded: the images, the kind, and whether the sweeper removed
// the item.
TEST(StreamRecordTest, DecodesWhatItEncoded) {
  StreamRecord change = Removal();
  change.kind = ChangeKind::kModify;
  change.expired = false;
  change.new_image = item::Item{{"id", "a"}};
  StreamRecord insertion{.sequence = SequenceText(12),
                         .kind = ChangeKind::kInsert,
                         .view = StreamView::kKeysOnly,
                         .keys = {{"id", "b"}}};
  for (const StreamRecord& record : {Removal(), change, insertion}) {
    const auto decoded = DecodeStreamRecord(StreamRowKey(3, 12), testing::BytesOf(record));
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, record);
  }
}

// Damage is reported, never served.
TEST(StreamRecordTest, RefusesWhatItDoesNotWrite) {
  const std::string key = StreamRowKey(3, 12);
  const std::string value = testing::BytesOf(Removal());
  for (size_t length = 0; length < value.size(); ++length) {
    EXPECT_FALSE(DecodeStreamRecord(key, value.substr(0, length)).has_value()) << length;
  }
  EXPECT_FALSE(DecodeStreamRecord(key, value + "x").has_value());
  EXPECT_FALSE(DecodeStreamRecord(key + "x", value).has_value());
  for (size_t place = 0; place < 4; ++place) {
    std::string damaged = value;
    damaged[place] = '\x7f';
    EXPECT_FALSE(DecodeStreamRecord(key, damaged).has_value()) << place;
  }
}

// Consumers compare sequence numbers as text.
TEST(StreamRecordTest, SequencesSortAsText) {
  EXPECT_LT(SequenceText(9), SequenceText(10));
  EXPECT_LT(SequenceText(10), SequenceText(UINT64_MAX));
  EXPECT_EQ(SequenceText(1).size(), 21u);
  EXPECT_EQ(ParseSequence(SequenceText(UINT64_MAX)), UINT64_MAX);
  EXPECT_EQ(ParseSequence(""), std::nullopt);
  EXPECT_EQ(ParseSequence("12x"), std::nullopt);
  EXPECT_EQ(ParseSequence("-1"), std::nullopt);
  EXPECT_EQ(ParseSequence("99999999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace tidemark::embedded
