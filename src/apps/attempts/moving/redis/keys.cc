#include "apps/attempts/moving/redis/keys.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"

namespace tidemark::moving {

namespace {

constexpr std::string_view kSubjectMark = "{subject}";
constexpr std::string_view kNameMark = "{name}";

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

Status CheckPattern(std::string_view pattern, bool wants_name) {
  if (Has(pattern, kSubjectMark) && (!wants_name || Has(pattern, kNameMark))) return Done{};
  return Invalid(fmt::format("the key pattern \"{}\" should contain {}{}", pattern, kSubjectMark,
                             wants_name ? " and {name}" : ""));
}

}  // namespace

std::vector<std::string> KnownSortKeys(const attempts::Policy& policy) {
  std::set<std::string> keys;
  for (const attempts::Rule& rule : policy.rules()) {
    attempts::Name name{
        .journey = rule.journey, .count = rule.count, .classifier = rule.classifier};
    if (auto key = attempts::SortKeyOf(name)) keys.insert(*key);
    if (rule.on_limit != attempts::OnLimit::kLock) continue;
    name.count = attempts::kLockCount;
    name.classifier = rule.lock_classifier;
    if (auto key = attempts::SortKeyOf(name)) keys.insert(*key);
  }
  for (const attempts::AccountState state : attempts::kAccountStates) {
    keys.insert(attempts::StateKey(state));
  }
  keys.insert(std::string(attempts::kFraudBlocked));
  keys.insert(std::string(attempts::kFraudAllowed));
  return {keys.begin(), keys.end()};
}

Result<KeyMap> KeyMap::Make(KeyOptions options, const std::vector<std::string>& known) {
  for (const std::string& pattern : {options.count, options.lock, options.state}) {
    TRY(CheckPattern(pattern, true));
  }
  KeyMap map(std::move(options));
  std::string_view rest = map.options_.single;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view line = Trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return Invalid(fmt::format("\"{}\" should be SORT KEY=PATTERN", line));
    }
    const std::string sort_key(Trimmed(line.substr(0, equals)));
    const std::string_view pattern = Trimmed(line.substr(equals + 1));
    TRY(attempts::ParseSortKey(sort_key));
    TRY(CheckPattern(pattern, false));
    const size_t at = pattern.find(kSubjectMark);
    const Pattern split{.before = std::string(pattern.substr(0, at)),
                        .after = std::string(pattern.substr(at + kSubjectMark.size()))};
    map.single_[sort_key] = map.known_[sort_key] = split;
  }
  for (const std::string& sort_key : known) {
    if (auto pattern = map.PatternOf(sort_key)) map.known_[sort_key] = *std::move(pattern);
  }
  return map;
}

std::optional<KeyMap::Pattern> KeyMap::PatternOf(std::string_view sort_key) const {
  if (const auto found = single_.find(sort_key); found != single_.end()) return found->second;
  if (!attempts::ParseSortKey(sort_key) || sort_key.starts_with("DEVICE#")) return std::nullopt;
  std::string pattern = Has(sort_key, "#LOCK#")    ? options_.lock
                        : Has(sort_key, "#STATE#") ? options_.state
                                                   : options_.count;
  pattern.replace(pattern.find(kNameMark), kNameMark.size(), sort_key);
  const size_t at = pattern.find(kSubjectMark);
  return Pattern{.before = pattern.substr(0, at),
                 .after = pattern.substr(at + kSubjectMark.size())};
}

std::string KeyMap::KeyOf(std::string_view sort_key, const attempts::Subject& subject) const {
  const auto pattern = PatternOf(sort_key);
  return pattern ? pattern->before + subject.text() + pattern->after : std::string();
}

std::map<std::string, std::string> KeyMap::KnownKeys(const attempts::Subject& subject) const {
  std::map<std::string, std::string> keys;
  for (const auto& [sort_key, pattern] : known_) {
    keys[sort_key] = pattern.before + subject.text() + pattern.after;
  }
  return keys;
}

std::string KeyMap::OwnKey(const attempts::Subject& subject) const {
  return options_.own + subject.text();
}

// No subject begins with '~', so these two never meet the key of a subject.
std::string KeyMap::PhaseKey() const { return options_.own + "~phase"; }

std::string KeyMap::DriftKey() const { return options_.own + "~drift"; }

std::optional<attempts::Subject> KeyMap::SubjectOf(std::string_view key) const {
  const auto parse = [](std::string_view text) -> std::optional<attempts::Subject> {
    auto subject = attempts::Subject::Parse(text);
    return subject ? std::optional(*std::move(subject)) : std::nullopt;
  };
  if (key.starts_with(options_.own)) return parse(key.substr(options_.own.size()));
  for (const auto& [sort_key, pattern] : known_) {
    if (!key.starts_with(pattern.before) || !key.ends_with(pattern.after)) continue;
    const size_t around = pattern.before.size() + pattern.after.size();
    if (key.size() <= around) continue;
    return parse(key.substr(pattern.before.size(), key.size() - around));
  }
  return std::nullopt;
}

}  // namespace tidemark::moving
