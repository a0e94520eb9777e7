#include "apps/attempts/moving/redis/redis_store.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "apps/attempts/moving/rows.h"
#include "item/attributes.h"
#include "item/json.h"

namespace tidemark::moving {

namespace {

using item::IntIn;
using item::Item;
using item::Number;
using item::TextIn;

// The expiry of a key and the end in our row may differ by so much and still mean the same end: the
// Redis has its own clock, and expiries are rounded.
constexpr int64_t kSameEndSeconds = 2;
constexpr int64_t kGraceSeconds = 86'400;
constexpr const char* kLockedValue = "blocked";
constexpr const char* kScanPage = "500";
constexpr std::string_view kPolicyField = "maxmemory_policy:";
constexpr std::string_view kKeepsAll = "noeviction";

// Reads all keys of a subject and their fingerprint. KEYS: the hash of the subject, the phase
// record. A field of the hash is a sort key; its value is "KEY\nITEM", where KEY is the plain key
// of the row, or empty, and ITEM the row as JSON.
constexpr std::string_view kLook = R"lua(
local function look(known)
  local fields = redis.call('HGETALL', KEYS[1])
  local keys, seen, texts, values = {}, {}, {}, {}
  local function add(key)
    if key and key ~= '' and not seen[key] then
      seen[key] = true
      keys[#keys + 1] = key
    end
  end
  for i = 1, #fields, 2 do
    add(string.match(fields[i + 1], '^([^\n]*)\n'))
    texts[#texts + 1] = fields[i] .. '\n' .. fields[i + 1]
  end
  for _, key in ipairs(known) do add(key) end
  for _, key in ipairs(keys) do
    local value = redis.pcall('GET', key)
    if type(value) == 'string' then
      values[#values + 1] = key
      values[#values + 1] = value
      values[#values + 1] = redis.call('PTTL', key)
      texts[#texts + 1] = key .. '\n' .. value
    end
  end
  table.sort(texts)
  local print = ''
  if #texts > 0 then print = redis.sha1hex(table.concat(texts, '\n\n')) end
  return print, fields, values
end
)lua";

// Returns: epoch, fingerprint, fields of the hash, plain keys with their values and expiries,
// phase.
constexpr std::string_view kLoad = R"lua(
local print, fields, values = look(ARGV)
return {redis.call('HGET', KEYS[2], 'epoch') or '0', print, fields, values,
        redis.call('HGET', KEYS[2], 'phase') or ''}
)lua";

// Replaces everything, if the epoch and the fingerprint are as expected. Returns 0: applied,
// 1: something changed since the load, 2: another epoch.
// ARGV: fingerprint, epoch or '', expiry of the hash in ms or '0', then three lists, each after its
// length: known keys; fields and values of the hash; plain keys, values and expiries in ms or '0'.
constexpr std::string_view kReplace = R"lua(
local at = 4
local function list(width)
  local count = tonumber(ARGV[at]) * width
  local all = {}
  for i = 1, count do all[i] = ARGV[at + i] end
  at = at + count + 1
  return all
end
local known, fields, written = list(1), list(2), list(3)
if ARGV[2] ~= '' and (redis.call('HGET', KEYS[2], 'epoch') or '0') ~= ARGV[2] then return 2 end
local print, _, values = look(known)
if print ~= ARGV[1] then return 1 end
for i = 1, #values, 3 do redis.call('DEL', values[i]) end
redis.call('DEL', KEYS[1])
for i = 1, #fields, 2 do redis.call('HSET', KEYS[1], fields[i], fields[i + 1]) end
if #fields > 0 and ARGV[3] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
for i = 1, #written, 3 do
  if written[i + 2] == '0' then
    redis.call('SET', written[i], written[i + 1])
  else
    redis.call('SET', written[i], written[i + 1], 'PX', written[i + 2])
  end
end
return 0
)lua";

constexpr const char* kSetPhase = R"lua(
if (redis.call('HGET', KEYS[1], 'epoch') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'phase', ARGV[2], 'epoch', ARGV[3], 'since', ARGV[4])
return 1
)lua";

constexpr const char* kNoteDrift = R"lua(
local noted = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if noted < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'count', '0', 'last_at', '0')
end
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('HSET', KEYS[1], 'last_at', ARGV[2])
return 1
)lua";

std::optional<int64_t> ParseNumber(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

int64_t NumberOf(const std::string& text) { return ParseNumber(text).value_or(0); }

std::map<std::string, std::string> FieldsOf(const redis::Reply& reply) {
  std::map<std::string, std::string> fields;
  const auto& list = reply.AsList();
  for (size_t i = 0; i + 1 < list.size(); i += 2) fields[list[i].AsText()] = list[i + 1].AsText();
  return fields;
}

// ---- Plain keys, which other programs read and write ----

struct Plain {
  std::string value;
  std::optional<EpochSeconds> until;
};

std::map<std::string, Plain> PlainsOf(const redis::Reply& reply, EpochSeconds now) {
  std::map<std::string, Plain> plains;
  const auto& list = reply.AsList();
  for (size_t i = 0; i + 2 < list.size(); i += 3) {
    Plain plain{.value = list[i + 1].AsText(), .until = std::nullopt};
    const int64_t life_ms = list[i + 2].AsInt();
    if (life_ms >= 0) plain.until = now + (life_ms + 999) / 1000;
    plains[list[i].AsText()] = std::move(plain);
  }
  return plains;
}

bool IsCount(std::string_view sort_key) {
  return sort_key.find("#LOCK#") == std::string_view::npos &&
         sort_key.find("#STATE#") == std::string_view::npos;
}

void SetEnd(std::optional<EpochSeconds> until, Item* item) {
  if (until) {
    item->Set("ttl", Number::FromInt(*until));
  } else {
    item->Erase("ttl");
    item->Set("block_type", std::string(ToString(attempts::LockKind::kPermanent)));
  }
}

// The row for a key that another program made; nullopt when the value makes no sense for the row.
std::optional<Item> ItemOf(const attempts::Subject& subject, const std::string& sort_key,
                           const Plain& plain, EpochSeconds now) {
  Item item{{std::string(attempts::kPartitionAttribute), subject.text()},
            {std::string(attempts::kSortAttribute), sort_key},
            {"last_updated", Number::FromInt(now)}};
  if (IsCount(sort_key)) {
    const int64_t count = NumberOf(plain.value);
    // A count without an expiry would never be forgiven. No program that counts makes one, so it is
    // some other value.
    if (count <= 0 || !plain.until) return std::nullopt;
    item.Set("count", Number::FromInt(count));
    item.Set("ttl", Number::FromInt(*plain.until));
    return item;
  }
  item.Set("block_type", std::string(ToString(attempts::LockKind::kStandard)));
  SetEnd(plain.until, &item);
  if (plain.until) item.Set("block_duration", Number::FromInt(*plain.until - now));
  if (sort_key.find("#STATE#") != std::string::npos) {
    item.Set("intervention_state", plain.value);
  } else {
    item.Set("reason", "set in the old store");
  }
  return item;
}

bool EndsLater(const Plain& plain, const Item& item) {
  const auto end = IntIn(item, "ttl");
  return end && (!plain.until || *plain.until > *end + kSameEndSeconds);
}

// Changes the row to what another program has made of its plain key since we wrote both.
void FollowPlainKey(const attempts::Subject& subject, const std::string& sort_key,
                    const Plain& plain, EpochSeconds now, Rows* rows) {
  const auto found = rows->find(sort_key);
  const bool is_known = found != rows->end() && found->second.item;
  if (!is_known) {
    if (auto item = ItemOf(subject, sort_key, plain, now)) {
      Put(sort_key, *std::move(item), now, rows);
    }
    return;
  }
  Item item = *found->second.item;
  const int64_t before = IntIn(item, "count").value_or(0);
  // A value that is not a number is ignored.
  const int64_t count = ParseNumber(plain.value).value_or(before);
  if (IsCount(sort_key) && count < before) {
    // The count never falls by itself: it was cleared there and counted again from zero. Removing
    // the row begins a generation, so the cleared failures do not come back from the table.
    Remove(sort_key, now, rows);
    return FollowPlainKey(subject, sort_key, plain, now, rows);
  }
  if (IsCount(sort_key)) item.Set("count", Number::FromInt(count));
  if (EndsLater(plain, item)) SetEnd(plain.until, &item);
  Put(sort_key, std::move(item), now, rows);
}

// ---- What other programs removed ----

enum class Removals { kCount, kIgnored };

// Where the old store decides, a key that is gone was removed by a program that may do so. Where
// the table decides, it may as well have been evicted, and changes nothing. The phase comes with
// the rows; a Redis that has forgotten even that has lost its data.
Removals RemovalsIn(const std::string& phase_text) {
  const auto phase = ParsePhase(phase_text);
  return phase && DeciderOf(*phase) == Side::kOld ? Removals::kCount : Removals::kIgnored;
}

// Whether the row has more time than the clocks of the Redis and of this machine may differ by.
bool LivesOn(const Rows& rows, const std::string& sort_key, EpochSeconds now) {
  const auto row = rows.find(sort_key);
  if (row == rows.end() || !row->second.item) return false;
  const auto end = IntIn(*row->second.item, "ttl");
  return !end || *end > now + kSameEndSeconds;
}

bool IsLower(const Rows& rows, const std::string& sort_key, const Plain& plain) {
  const auto row = rows.find(sort_key);
  if (!IsCount(sort_key) || row == rows.end() || !row->second.item) return false;
  const int64_t known = IntIn(*row->second.item, "count").value_or(0);
  return ParseNumber(plain.value).value_or(known) < known;
}

// ---- What we write ----

std::string LifeOf(const Item& item, EpochSeconds now) {
  const auto end = IntIn(item, "ttl");
  if (!end || TextIn(item, "block_type") == ToString(attempts::LockKind::kPermanent)) return "0";
  return std::to_string(std::max<int64_t>(1, (*end - now) * 1000));
}

std::string PlainValueOf(const std::string& sort_key, const Item& item) {
  if (IsCount(sort_key)) return std::to_string(IntIn(item, "count").value_or(0));
  const std::string state = TextIn(item, "intervention_state");
  return state.empty() ? kLockedValue : state;
}

// The expiry of the hash: a day after the last row has ended; "0": never.
std::string LifeOfAll(const std::vector<Item>& items, EpochSeconds now) {
  EpochSeconds end = now;
  for (const Item& item : items) {
    const auto of_item = IntIn(item, "ttl");
    if (!of_item || LifeOf(item, now) == "0") return "0";
    end = std::max(end, *of_item);
  }
  return std::to_string((end - now + kGraceSeconds) * 1000);
}

}  // namespace

// Runs a command that changes nothing. It may be sent again, and when its reply is lost nothing was
// done, so the error is kUnavailable and not kUnknown.
Result<redis::Reply> RedisStore::Ask(const std::vector<std::string>& words) {
  auto reply = client_.Run(words, redis::Repeat::kYes);
  if (!reply && reply.error().code == ErrorCode::kUnknown) {
    reply.error().code = ErrorCode::kUnavailable;
  }
  return reply;
}

Result<StoredAccount> RedisStore::Load(const attempts::Subject& subject) {
  const std::map<std::string, std::string> known = keys_.KnownKeys(subject);
  std::vector<std::string> words = {"EVAL", fmt::format("{}{}", kLook, kLoad), "2",
                                    keys_.OwnKey(subject), keys_.PhaseKey()};
  for (const auto& [sort_key, key] : known) words.push_back(key);
  const redis::Reply reply = TRY(Ask(words));
  const auto& parts = reply.AsList();
  if (parts.size() != 5) {
    return Error{ErrorCode::kCorrupt,
                 "the Redis gave an unexpected reply to the script that loads an account"};
  }
  StoredAccount account{.version = parts[1].AsText(),
                        .epoch = static_cast<uint64_t>(NumberOf(parts[0].AsText()))};
  std::vector<Item> items;
  std::map<std::string, std::string> keys;  // Sort key → the key that we wrote, if any.
  for (const auto& [sort_key, text] : FieldsOf(parts[2])) {
    const size_t end = text.find('\n');
    auto item = item::ParseItemJson(std::string_view(text).substr(end + 1));
    if (end == std::string::npos || !item) {
      return Error{ErrorCode::kCorrupt, fmt::format("the row {} of {} in the Redis is damaged",
                                                    sort_key, subject.ForLog())};
    }
    if (end > 0) keys[sort_key] = text.substr(0, end);
    items.push_back(*std::move(item));
  }
  const EpochSeconds now = LatestOf(items, clock_.NowSeconds());
  const std::map<std::string, Plain> plains = PlainsOf(parts[3], now);
  Rows rows = DecodeRows(items, now);
  const Removals removals = RemovalsIn(parts[4].AsText());
  // A plain key that we wrote and that is gone before its row has ended was cleared there.
  for (const auto& [sort_key, key] : keys) {
    if (plains.contains(key)) continue;
    if (removals == Removals::kCount) {
      Remove(sort_key, now, &rows);
    } else if (LivesOn(rows, sort_key, now)) {
      account.has_lost_rows = true;
    }
  }
  // A key may live a moment longer than its row, because the Redis has its own clock. Then it is
  // not a new lock of another program.
  const auto is_over = [&](const std::string& sort_key, const Plain& plain) {
    const auto row = rows.find(sort_key);
    if (row != rows.end() && row->second.item) return false;
    return std::any_of(items.begin(), items.end(), [&](const Item& item) {
      return TextIn(item, attempts::kSortAttribute) == sort_key && !EndsLater(plain, item);
    });
  };
  keys.insert(known.begin(), known.end());
  for (const auto& [sort_key, key] : keys) {
    const auto plain = plains.find(key);
    if (plain == plains.end() || is_over(sort_key, plain->second)) continue;
    if (removals == Removals::kIgnored && IsLower(rows, sort_key, plain->second)) {
      account.has_lost_rows = true;
      continue;
    }
    FollowPlainKey(subject, sort_key, plain->second, now, &rows);
  }
  account.items = EncodeRows(subject, rows);
  return account;
}

std::vector<std::string> RedisStore::WordsFor(const Replacement& replacement) const {
  const attempts::Subject& subject = replacement.subject;
  std::vector<std::string> words = {
      "EVAL",
      fmt::format("{}{}", kLook, kReplace),
      "2",
      keys_.OwnKey(subject),
      keys_.PhaseKey(),
      replacement.before.version,
      replacement.epoch ? std::to_string(*replacement.epoch) : std::string(),
      LifeOfAll(replacement.items, replacement.now)};
  const auto known = keys_.KnownKeys(subject);
  words.push_back(std::to_string(known.size()));
  for (const auto& [sort_key, key] : known) words.push_back(key);
  std::vector<std::string> plains;
  words.push_back(std::to_string(replacement.items.size()));
  for (const Item& item : replacement.items) {
    const std::string sort_key = TextIn(item, attempts::kSortAttribute);
    const std::string key = keys_.KeyOf(sort_key, subject);
    words.push_back(sort_key);
    words.push_back(key + "\n" + item::ToJson(item));
    if (key.empty()) continue;
    plains.insert(plains.end(), {key, PlainValueOf(sort_key, item), LifeOf(item, replacement.now)});
  }
  words.push_back(std::to_string(plains.size() / 3));
  words.insert(words.end(), plains.begin(), plains.end());
  return words;
}

Result<ReplaceOutcome> RedisStore::Replace(const Replacement& replacement) {
  const redis::Reply reply = TRY(client_.Run(WordsFor(replacement)));
  if (reply.AsInt() == 1) return ReplaceOutcome::kChanged;
  if (reply.AsInt() == 2) return ReplaceOutcome::kOtherEpoch;
  return ReplaceOutcome::kApplied;
}

Result<PhaseRecord> RedisStore::GetPhase() {
  auto fields = FieldsOf(TRY(Ask({"HGETALL", keys_.PhaseKey()})));
  if (fields.empty()) return PhaseRecord{};
  const auto phase = ParsePhase(fields["phase"]);
  if (!phase) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the Redis has the phase \"{}\" for the move; there is no such phase",
                             fields["phase"])};
  }
  return PhaseRecord{.phase = *phase,
                     .epoch = static_cast<uint64_t>(NumberOf(fields["epoch"])),
                     .since = NumberOf(fields["since"])};
}

Result<bool> RedisStore::SetPhase(const PhaseRecord& record, uint64_t expected_epoch) {
  const auto reply =
      TRY(client_.Run({"EVAL", kSetPhase, "1", keys_.PhaseKey(), std::to_string(expected_epoch),
                       std::string(ToString(record.phase)), std::to_string(record.epoch),
                       std::to_string(record.since)}));
  return reply.AsInt() == 1;
}

Status RedisStore::NoteDrift(uint64_t epoch, EpochSeconds now) {
  TRY(client_.Run(
      {"EVAL", kNoteDrift, "1", keys_.DriftKey(), std::to_string(epoch), std::to_string(now)}));
  return Done{};
}

Result<Drift> RedisStore::GetDrift(uint64_t epoch) {
  auto fields = FieldsOf(TRY(Ask({"HGETALL", keys_.DriftKey()})));
  if (NumberOf(fields["epoch"]) != static_cast<int64_t>(epoch)) return Drift{};
  return Drift{.count = static_cast<uint64_t>(NumberOf(fields["count"])),
               .last_at = NumberOf(fields["last_at"])};
}

// From INFO and not CONFIG GET, which managed services refuse.
Status RedisStore::CheckKeepsRows() {
  if (TRY(Ask({"INFO", "cluster"})).AsText().find("cluster_enabled:1") != std::string::npos) {
    return Invalid(
        "the Redis is a node of a cluster, and a move writes keys of several slots in one script: "
        "copy the keys to a single Redis (redis-cli --cluster or a replica with cluster mode off), "
        "and name that one");
  }
  if (eviction_ == Eviction::kAccepted) return Done{};
  const std::string memory = TRY(Ask({"INFO", "memory"})).AsText();
  const size_t at = memory.find(kPolicyField);
  if (at == std::string::npos) {
    return Invalid(
        "the Redis does not say what it does when its memory is full (maxmemory_policy in INFO "
        "memory). Make sure that it drops nothing, and set attempts.old.accept-eviction = true");
  }
  const size_t from = at + kPolicyField.size();
  const std::string policy = memory.substr(from, memory.find_first_of("\r\n", from) - from);
  if (policy == kKeepsAll) return Done{};
  return Invalid(fmt::format(
      "the Redis has maxmemory-policy {}: when its memory is full it drops locks, and a dropped "
      "lock lets people in. Set maxmemory-policy to {} there, or accept that risk with "
      "attempts.old.accept-eviction = true",
      policy, kKeepsAll));
}

Result<SubjectPage> RedisStore::ListSubjects(const std::optional<std::string>& cursor) {
  const auto reply = TRY(Ask({"SCAN", cursor.value_or("0"), "COUNT", kScanPage}));
  const auto& parts = reply.AsList();
  if (parts.size() != 2) {
    return Error{ErrorCode::kCorrupt, "the Redis gave an unexpected reply to SCAN"};
  }
  SubjectPage page;
  for (const redis::Reply& key : parts[1].AsList()) {
    if (auto subject = keys_.SubjectOf(key.AsText())) page.subjects.push_back(*std::move(subject));
  }
  if (parts[0].AsText() != "0") page.next = parts[0].AsText();
  return page;
}

}  // namespace tidemark::moving
