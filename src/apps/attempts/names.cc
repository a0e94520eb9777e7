#include "apps/attempts/names.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/hashing.h"

namespace tidemark::attempts {

namespace {

constexpr size_t kMaxSubjectBytes = 256;
constexpr size_t kMaxPartBytes = 64;
// The '~' between the kind of an identifier and the identifier is in none of them.
constexpr std::string_view kPairwiseKind = "pairwise~";
constexpr std::string_view kSessionKind = "session~";
constexpr std::string_view kEmailKind = "email~";
constexpr size_t kEmailDigits = 64;
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
    return Invalid(fmt::format("the {} is empty: say whose attempts these are", what));
  if (text.size() <= kMaxSubjectBytes && HasOnly(text, "_.:-/+=")) return Done{};
  return Invalid(
      fmt::format("a {} has up to {} letters, digits and any of _.:-/+=; this one does not", what,
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

// Without the method. It is made several times for every decision, so by hand and not by fmt.
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
    return Invalid("an e-mail address has something before and behind its @");
  }
  if (key.empty()) {
    return Invalid("attempts.email-key is not set: addresses are kept as a keyed hash alone");
  }
  const std::string lower = InLowerCase(email);
  return Subject(fmt::format("{}{}", kEmailKind, ToHex(HmacSha256(key, {lower}))));
}

Result<Subject> Subject::Parse(std::string_view text) {
  if (text.starts_with(kPairwiseKind)) return OfPairwise(text.substr(kPairwiseKind.size()));
  if (text.starts_with(kSessionKind)) return OfSession(text.substr(kSessionKind.size()));
  if (!text.starts_with(kEmailKind)) return Of(text);
  const std::string_view digits = text.substr(kEmailKind.size());
  const bool is_hex = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (is_hex && digits.size() == kEmailDigits) return Subject(std::string(text));
  return Invalid(fmt::format(
      "an e-mail address is known by email~ and the {} hexadecimal digits of its keyed hash, "
      "never by itself",
      kEmailDigits));
}

bool IsSameCount(const Name& left, const Name& right) {
  return left.journey == right.journey && left.count == right.count &&
         left.classifier == right.classifier;
}

Status CheckPart(std::string_view what, std::string_view text) {
  if (!text.empty() && text.size() <= kMaxPartBytes && HasOnly(text, "_.-")) return Done{};
  return Invalid(
      fmt::format("the {} of a count has 1 to {} letters, digits and any of _.-; this one has not",
                  what, kMaxPartBytes));
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
    return Invalid(
        fmt::format("\"{}\" is not JOURNEY#TYPE#CLASSIFIER or with a #METHOD behind", sort_key));
  }
  const size_t lane = parts[0].find(kLaneMark);
  Name name{.journey = std::string(parts[0].substr(0, lane)),
            .count = std::string(parts[1]),
            .classifier = std::string(parts[2])};
  if (lane != std::string_view::npos) name.lane = parts[0].substr(lane + 1);
  if (parts.size() == 4) name.method = parts[3];
  // A mark with nothing behind it is not what this name is kept under.
  if (TRY(SortKeyOf(name)) != sort_key) return Invalid("a part of the sort key is empty");
  return name;
}

std::string MethodsPrefix(const Name& name) { return KeyOfAllMethods(name) + kPartMark; }

}  // namespace tidemark::attempts
