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

// How far a life in the Redis may be from the end in our row and still be the same.
constexpr int64_t kSameEndSeconds = 2;
constexpr int64_t kGraceSeconds = 86'400;
constexpr const char* kLockedValue = "blocked";
constexpr const char* kScanPage = "500";

// What is there of a subject, and its fingerprint. KEYS: the hash, the phase. The fields of the
// hash are "KEY\nITEM", where KEY may be empty.
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

constexpr std::string_view kLoad = R"lua(
local print, fields, values = look(ARGV)
return {redis.call('HGET', KEYS[2], 'epoch') or '0', print, fields, values}
)lua";

// ARGV: fingerprint, epoch or '', life of the hash in ms or '0', then three lists, each behind its
// length: known keys; fields and values of the hash; keys, values and lives in ms or '0'.
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

// ---- What stands in the keys that others know ----

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

// A row that others have made; nullopt when the value is none of a row.
std::optional<Item> ItemOf(const attempts::Subject& subject, const std::string& sort_key,
                           const Plain& plain, EpochSeconds now) {
  Item item{{std::string(attempts::kPartitionAttribute), subject.text()},
            {std::string(attempts::kSortAttribute), sort_key},
            {"last_updated", Number::FromInt(now)}};
  if (IsCount(sort_key)) {
    const int64_t count = NumberOf(plain.value);
    // A count without an end would never be forgiven: nobody who counts makes one.
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

// Brings the row to what others have made of its key since we wrote it.
void Follow(const attempts::Subject& subject, const std::string& sort_key, const Plain& plain,
            EpochSeconds now, Rows* rows) {
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
  // What is no number changes nothing.
  const int64_t count = ParseNumber(plain.value).value_or(before);
  if (IsCount(sort_key) && count < before) {
    // Cleared, and counted anew.
    Remove(sort_key, now, rows);
    return Follow(subject, sort_key, plain, now, rows);
  }
  if (IsCount(sort_key)) item.Set("count", Number::FromInt(count));
  if (EndsLater(plain, item)) SetEnd(plain.until, &item);
  Put(sort_key, std::move(item), now, rows);
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

// Of the hash: until the last of its rows has ended; "0": for good.
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

// Of what changes nothing: without a reply nothing was done.
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
  if (parts.size() != 4) {
    return Error{ErrorCode::kCorrupt, "the Redis answers a script with what it does not return"};
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
  for (const auto& [sort_key, key] : keys) {
    if (!plains.contains(key)) Remove(sort_key, now, &rows);
  }
  // What has ended by our row is over, though its key may be there for a moment longer.
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
    Follow(subject, sort_key, plain->second, now, &rows);
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

Result<Outcome> RedisStore::Replace(const Replacement& replacement) {
  const redis::Reply reply = TRY(client_.Run(WordsFor(replacement)));
  if (reply.AsInt() == 1) return Outcome::kChanged;
  if (reply.AsInt() == 2) return Outcome::kOtherEpoch;
  return Outcome::kApplied;
}

Result<PhaseRecord> RedisStore::GetPhase() {
  auto fields = FieldsOf(TRY(Ask({"HGETALL", keys_.PhaseKey()})));
  if (fields.empty()) return PhaseRecord{};
  const auto phase = ParsePhase(fields["phase"]);
  if (!phase) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the Redis says that the move is in the phase \"{}\", which there is "
                             "not",
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

Result<SubjectPage> RedisStore::ListSubjects(const std::optional<std::string>& cursor) {
  const auto reply = TRY(Ask({"SCAN", cursor.value_or("0"), "COUNT", kScanPage}));
  const auto& parts = reply.AsList();
  if (parts.size() != 2) {
    return Error{ErrorCode::kCorrupt, "the Redis answers SCAN with what it does not return"};
  }
  SubjectPage page;
  for (const redis::Reply& key : parts[1].AsList()) {
    if (auto subject = keys_.SubjectOf(key.AsText())) page.subjects.push_back(*std::move(subject));
  }
  if (parts[0].AsText() != "0") page.next = parts[0].AsText();
  return page;
}

}  // namespace tidemark::moving
