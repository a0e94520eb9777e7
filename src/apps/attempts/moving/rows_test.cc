#include "apps/attempts/moving/rows.h"

#include <tuple>

#include <gtest/gtest.h>

#include "base/random.h"
#include "item/attributes.h"
#include "item/json.h"

namespace tidemark::moving {
namespace {

using item::IntIn;
using item::Item;
using item::Number;

constexpr EpochSeconds kNow = 1'700'000'000;
const std::string kCount = "SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY";
const std::string kLock = "SIGN_IN#LOCK#PASSWORD_RESET";
const std::string kState = "ACCOUNT_INTERVENTION#STATE#BLOCKED";

Item CountOf(int64_t count, const std::vector<std::string>& ids, EpochSeconds until = kNow + 900) {
  Item item{{"sk", kCount}, {"count", Number::FromInt(count)}, {"ttl", Number::FromInt(until)}};
  if (!ids.empty()) item.Set("ids", item::List(ids.begin(), ids.end()));
  return item;
}

Item LockUntil(EpochSeconds until) {
  return {{"sk", kLock}, {"block_type", "STANDARD"}, {"ttl", Number::FromInt(until)}};
}

Item Permanent(const std::string& sort_key) {
  return {{"sk", sort_key}, {"block_type", "PERMANENT"}, {"intervention_state", "BLOCKED"}};
}

Rows RowsOf(const std::vector<Item>& items) { return DecodeRows(items, kNow); }

int64_t CountIn(const Rows& rows) {
  const auto row = rows.find(kCount);
  return row == rows.end() || !row->second.item ? 0 : *IntIn(*row->second.item, "count");
}

// An attempt that both stores have counts once; one that only one store has counts too.
TEST(JoinTest, JoinsCountsByTheIdsOfAttempts) {
  const Rows left = RowsOf({CountOf(3, {"a", "b", "c"})});
  const Rows right = RowsOf({CountOf(2, {"b", "d"})});
  EXPECT_EQ(CountIn(Join(left, right)), 4);
  EXPECT_EQ(CountIn(Join(left, left)), 3);
}

// Other programs give no ids. After a copy their failures are in both stores.
TEST(JoinTest, DoesNotAddFailuresWithoutAnId) {
  const Rows left = RowsOf({CountOf(4, {"a"})});
  const Rows right = RowsOf({CountOf(3, {"b"})});
  EXPECT_EQ(CountIn(Join(left, right)), 5);
}

TEST(JoinTest, KeepsTheLaterEndOfTwoLocks) {
  const Rows left = RowsOf({LockUntil(kNow + 100)});
  const Rows right = RowsOf({LockUntil(kNow + 200)});
  EXPECT_EQ(Join(left, right), right);
  EXPECT_EQ(Join(right, left), right);
  const Rows permanent = RowsOf({Permanent(kLock)});
  EXPECT_EQ(Join(permanent, right), permanent);
  EXPECT_EQ(Join(right, permanent), permanent);
}

// In either store, whether they are swept or not.
TEST(RowsTest, LeaveOutExpiredRows) {
  EXPECT_TRUE(RowsOf({LockUntil(kNow)}).empty());
  EXPECT_EQ(RowsOf({LockUntil(kNow + 1)}).size(), 1u);
  const Rows ended = RowsOf({CountOf(5, {"a", "b", "c", "d", "e"}, kNow)});
  EXPECT_EQ(CountIn(Join(ended, RowsOf({CountOf(1, {"f"})}))), 1);
}

TEST(RowsTest, DoNotBringBackARemovedRow) {
  const Rows before = RowsOf({CountOf(2, {"a", "b"}), LockUntil(kNow + 900), Permanent(kState)});
  Rows after = before;
  for (const std::string& sort_key : {kCount, kLock, kState}) Remove(sort_key, kNow, &after);
  for (const Rows& joined : {Join(after, before), Join(before, after)}) {
    EXPECT_TRUE(SayTheSame(joined, {}));
  }
  // Nor is it joined with a later row.
  Put(kCount, CountOf(1, {"c"}), kNow, &after);
  EXPECT_EQ(CountIn(Join(after, before)), 1);
}

// The generation of a removed row is remembered for one day longer than the row would have lived.
TEST(RowsTest, AreTheSameAfterEncodingAndDecoding) {
  const auto subject = *attempts::Subject::Of("a");
  Rows rows = RowsOf({CountOf(2, {"a", "b"}), LockUntil(kNow + 900), Permanent(kState)});
  Remove(kLock, kNow, &rows);
  Put(kCount, CountOf(1, {"c"}), kNow, &rows);
  EXPECT_EQ(RowsOf(EncodeRows(subject, rows)), rows);
  EXPECT_EQ(DecodeRows(EncodeRows(subject, rows), kNow + 899).at(kLock).generation, 1u);
  EXPECT_FALSE(DecodeRows(EncodeRows(subject, rows), kNow + 900 + 86'400).contains(kLock));
}

// The generation outlives the row that it was begun for.
TEST(RowsTest, RememberTheGenerationOfAnExpiredRow) {
  const auto subject = *attempts::Subject::Of("a");
  Rows rows = RowsOf({CountOf(2, {"a", "b"}, kNow + 900)});
  Remove(kCount, kNow, &rows);
  const Rows removed = rows;
  Put(kCount, CountOf(1, {"c"}, kNow + 10), kNow, &rows);
  Rows later = DecodeRows(EncodeRows(subject, rows), kNow + 10);
  Put(kCount, CountOf(1, {"d"}, kNow + 1000), kNow + 10, &later);
  EXPECT_EQ(CountIn(Join(later, removed)), 1);
}

TEST(RowsTest, SayTheSameWhenCountsLocksAndStatesAgree) {
  const Rows rows = RowsOf({CountOf(2, {"a", "b"}), LockUntil(kNow + 900)});
  EXPECT_TRUE(SayTheSame(rows, rows));
  EXPECT_FALSE(SayTheSame(rows, RowsOf({CountOf(2, {"a", "b"})})));
  EXPECT_FALSE(SayTheSame(rows, RowsOf({CountOf(1, {"a"}), LockUntil(kNow + 900)})));
  EXPECT_FALSE(SayTheSame(rows, RowsOf({CountOf(2, {"a", "b"}), LockUntil(kNow + 901)})));
}

// Two stores start equal and miss different changes. Joining gives the same result in every order
// and however often it is done, and loses no failure.
TEST(JoinTest, GivesTheSameInEveryOrder) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    const std::string letters = "abcdefgh";
    const auto some = [&] {
      std::vector<std::string> ids;
      for (const char letter : letters) {
        if (random.Below(3) == 0) ids.emplace_back(1, letter);
      }
      return ids;
    };
    std::vector<Rows> versions;
    for (int i = 0; i < 3; ++i) {
      const auto ids = some();
      Rows rows = RowsOf({CountOf(static_cast<int64_t>(ids.size() + random.Below(3)), ids),
                          LockUntil(kNow + 1 + static_cast<int64_t>(random.Below(5)))});
      if (random.Below(4) == 0) Remove(kLock, kNow, &rows);
      if (random.Below(4) == 0) Remove(kCount, kNow, &rows);
      versions.push_back(rows);
    }
    const auto& [a, b, c] = std::tie(versions[0], versions[1], versions[2]);
    EXPECT_TRUE(SayTheSame(Join(a, b), Join(b, a)));
    EXPECT_TRUE(SayTheSame(Join(Join(a, b), c), Join(a, Join(b, c))));
    EXPECT_EQ(Join(Join(a, b), b), Join(a, b));
    if (a.at(kCount).generation == b.at(kCount).generation) {
      EXPECT_GE(CountIn(Join(a, b)), std::max(CountIn(a), CountIn(b)));
    }
  }
}

}  // namespace
}  // namespace tidemark::moving
