#include "apps/attempts/names.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/hashing.h"

namespace tidemark::attempts {

namespace {

constexpr size_t kMaxSubjectBytes = 256;
constexpr size_t kMaxPartBytes = 64;
// An identifier cannot contain the '~' that follows its kind, so kinds cannot be confused.
constexpr std::string_view kPairwiseKind = "pairwise~";
constexpr std::string_view kSessionKind = "session~";
constexpr std::string_view kEmailKind = "email~";
constexpr std::string_view kSourceKind = "source~";
constexpr size_t kHashDigits = 64;
constexpr char kPartMark = '#';
constexpr char kLaneMark = '@';

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool HasOnly(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLetterOrDigit(c) || others.find(c) != std::string_view::npos;
  });
}

Status CheckIdentifier(std::string_view what, std::string_view text) {
  if (text.empty())
    return Invalid(fmt::format("the {} is empty: it must say whose attempts these are", what));
  if (text.size() <= kMaxSubjectBytes && HasOnly(text, "_.:-/+=")) return Done{};
  return Invalid(
      fmt::format("the {} should have at most {} characters: letters, digits and _.:-/+=", what,
                  kMaxSubjectBytes));
}

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> Split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The sort key without the method. Every decision makes several of these, and fmt would be slower.
std::string KeyOfAllMethods(const Name& name) {
  std::string key;
  key.reserve(name.journey.size() + name.lane.size() + name.count.size() + name.classifier.size() +
              name.method.size() + 4);
  key += name.journey;
  if (!name.lane.empty()) (key += kLaneMark) += name.lane;
  (key += kPartMark) += name.count;
  (key += kPartMark) += name.classifier;
  return key;
}

}  // namespace

std::string Subject::ForLog() const {
  return text_.starts_with(kSessionKind) ? std::string(kSessionKind) : text_;
}

Result<Subject> Subject::Of(std::string_view subject_id) {
  TRY(CheckIdentifier("subject id", subject_id));
  return Subject(std::string(subject_id));
}

Result<Subject> Subject::OfPairwise(std::string_view pairwise_id) {
  TRY(CheckIdentifier("pairwise id", pairwise_id));
  return Subject(fmt::format("{}{}", kPairwiseKind, pairwise_id));
}

Result<Subject> Subject::OfSession(std::string_view session_id) {
  TRY(CheckIdentifier("session id", session_id));
  return Subject(fmt::format("{}{}", kSessionKind, session_id));
}

Result<Subject> Subject::OfEmail(std::string_view email, const Secret& key) {
  const size_t at = email.find('@');
  if (at == 0 || at == std::string_view::npos || at + 1 == email.size()) {
    return Invalid("an e-mail address needs text before and after its @");
  }
  if (key.empty()) {
    return Invalid(
        "attempts.email-key is not set: without a key an address cannot be hashed, and it is never "
        "stored as it is");
  }
  const std::string lower = InLowerCase(email);
  return Subject(fmt::format("{}{}", kEmailKind, ToHex(HmacSha256(key, {lower}))));
}

Result<Subject> Subject::OfSource(std::string_view source, const Secret& key) {
  if (source.empty() || source.size() > kMaxSubjectBytes) {
    return Invalid(fmt::format("a source should have 1 to {} bytes", kMaxSubjectBytes));
  }
  // There are few addresses: without a secret in the hash, whoever sees the table finds each source
  // by trying them all.
  if (key.empty()) {
    return Invalid(
        "attempts.email-key is not set: a source is stored only as a hash with this key; set the "
        "key, or send no source");
  }
  return Subject(fmt::format("{}{}", kSourceKind, ToHex(HmacSha256(key, {source}))));
}

bool Subject::IsSource() const { return text_.starts_with(kSourceKind); }

Result<Subject> Subject::Parse(std::string_view text) {
  if (text.starts_with(kPairwiseKind)) return OfPairwise(text.substr(kPairwiseKind.size()));
  if (text.starts_with(kSessionKind)) return OfSession(text.substr(kSessionKind.size()));
  for (const std::string_view kind : {kEmailKind, kSourceKind}) {
    if (!text.starts_with(kind)) continue;
    const std::string_view digits = text.substr(kind.size());
    const bool is_hex = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (is_hex && digits.size() == kHashDigits) return Subject(std::string(text));
    return Invalid(fmt::format(
        "the id of an address is {} and the {} hexadecimal digits of its keyed hash, not the "
        "address itself",
        kind, kHashDigits));
  }
  return Of(text);
}

bool IsSameCount(const Name& left, const Name& right) {
  return left.journey == right.journey && left.count == right.count &&
         left.classifier == right.classifier;
}

Status CheckPart(std::string_view what, std::string_view text) {
  if (!text.empty() && text.size() <= kMaxPartBytes && HasOnly(text, "_.-")) return Done{};
  return Invalid(
      fmt::format("the {} of a count should have 1 to {} characters: letters, digits and _.-", what,
                  kMaxPartBytes));
}

Result<std::string> SortKeyOf(const Name& name) {
  TRY(CheckPart("journey", name.journey));
  TRY(CheckPart("type", name.count));
  TRY(CheckPart("classifier", name.classifier));
  if (!name.method.empty()) TRY(CheckPart("method", name.method));
  if (!name.lane.empty()) TRY(CheckPart("device", name.lane));
  std::string key = KeyOfAllMethods(name);
  if (!name.method.empty()) (key += kPartMark) += name.method;
  return key;
}

Result<Name> ParseSortKey(std::string_view sort_key) {
  const std::vector<std::string_view> parts = Split(sort_key, kPartMark);
  if (parts.size() != 3 && parts.size() != 4) {
    return Invalid(fmt::format(
        "\"{}\" should be JOURNEY#TYPE#CLASSIFIER or JOURNEY#TYPE#CLASSIFIER#METHOD", sort_key));
  }
  const size_t lane = parts[0].find(kLaneMark);
  Name name{.journey = std::string(parts[0].substr(0, lane)),
            .count = std::string(parts[1]),
            .classifier = std::string(parts[2])};
  if (lane != std::string_view::npos) name.lane = parts[0].substr(lane + 1);
  if (parts.size() == 4) name.method = parts[3];
  // "SIGN_IN@#…": an '@' without a lane after it would be lost when the key is made again.
  if (TRY(SortKeyOf(name)) != sort_key) return Invalid("a part of the sort key is empty");
  return name;
}

std::string MethodsPrefix(const Name& name) { return KeyOfAllMethods(name) + kPartMark; }

}  // namespace tidemark::attempts
