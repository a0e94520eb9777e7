// The input of attempts: a policy, a sort key, or a stored row as DynamoDB JSON. A policy that
// parses can be used. A key that parses is encoded to the same text. Rules can decide with any row,
// and write only rows that they can read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attempts/account.h"
#include "apps/attempts/policy.h"
#include "apps/attempts/rules.h"
#include "base/check.h"
#include "item/json.h"

namespace {

using namespace tidemark::attempts;
using tidemark::item::Item;

constexpr tidemark::EpochSeconds kNow = 1'700'000'000;

void TryPolicy(std::string_view text) {
  const auto policy = Policy::Parse(text);
  if (!policy) {
    CHECK(policy.error().code == tidemark::ErrorCode::kInvalid);
    return;
  }
  for (const Odds& odds : policy->GuessOdds()) {
    CHECK(odds.a_year >= 0 && odds.a_year <= 1);
    CHECK(odds.between_successes >= 0 && odds.between_successes <= odds.a_year);
  }
  const Subject subject = *Subject::Of("a");
  for (const Rule& rule : policy->rules()) {
    std::vector<std::string> skipped;
    Account account = Account::Decode(subject, {}, kNow, &skipped);
    const Action action{
        .name = {.journey = rule.journey, .count = rule.count, .classifier = rule.classifier},
        .rule = &rule,
        .method_type = rule.method_type};
    CHECK(Reserve(*policy, action, "id", &account).verdict == Verdict::kPermitted);
    CHECK(Settle(*policy, action, {.id = "id"}, &account).known);
  }
}

void TrySortKey(std::string_view text) {
  const auto name = ParseSortKey(text);
  if (name) CHECK(*SortKeyOf(*name) == text);
}

std::vector<Item> RowsWritten(const Account& account) {
  const AccountChange change = account.ChangeTo("v");
  std::vector<Item> rows = change.puts;
  rows.push_back(change.head);
  return rows;
}

void TryRow(std::string_view text) {
  const auto row = tidemark::item::ParseItemJson(text);
  if (!row) return;
  const Subject subject = *Subject::Of("a");
  const Policy& policy = Policy::Default();
  std::vector<std::string> skipped;
  Account account = Account::Decode(subject, {*row}, kNow, &skipped);
  CHECK(skipped.size() <= 1);
  const Name name{.journey = "SIGN_IN", .count = "ERROR_COUNT", .classifier = "PASSWORD_ENTRY"};
  const Action action{.name = name, .rule = policy.FindRule(name, "")};
  const Decision decision = Reserve(policy, action, "id", &account);
  CHECK(decision.remaining_seconds >= 0);
  Settle(policy, action, {.id = "id"}, &account);
  Spend(policy, action, "other", &account);
  skipped.clear();
  Account::Decode(subject, RowsWritten(account), kNow, &skipped);
  CHECK(skipped.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TryPolicy(text);
  TrySortKey(text);
  TryRow(text);
  return 0;
}
