// How subjects and counts are named: the table's two keys. Parts are checked before they become
// part of a key, so none can hold the '#' between them.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace tidemark::attempts {

// Whose attempts: the table's partition key.
class Subject {
 public:
  // kInvalid when it is empty, too long, or has anything but letters, digits and "_.:-/+=".
  static Result<Subject> Of(std::string_view subject_id);
  static Result<Subject> OfPairwise(std::string_view pairwise_id);
  // What ends with a session is counted under it.
  static Result<Subject> OfSession(std::string_view session_id);
  // Kept as a keyed hash of the address in lower case: the address itself is nowhere.
  static Result<Subject> OfEmail(std::string_view email, const Secret& key);
  // From the text of one that was made: "ann", "pairwise~…", "session~…" or "email~…".
  static Result<Subject> Parse(std::string_view text);
  // As it stands in the table, from Of and its kin.
  const std::string& text() const { return text_; }
  // The same, but for a session, whose id opens it: that is left out.
  std::string ForLog() const;

  friend bool operator==(const Subject&, const Subject&) = default;
  friend auto operator<=>(const Subject&, const Subject&) = default;

 private:
  explicit Subject(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

inline constexpr std::string_view kGeneral = "GENERAL";
// In the place of a count: the name is that of a lock.
inline constexpr std::string_view kLockCount = "LOCK";

// JOURNEY#COUNT#CLASSIFIER, and #METHOD when there is one: the table's sort key. `lane` names the
// known device whose budget it is; empty is everybody's.
struct Name {
  std::string journey;
  std::string count;
  std::string classifier = std::string(kGeneral);
  std::string method = {};
  std::string lane = {};
  friend bool operator==(const Name&, const Name&) = default;
  friend auto operator<=>(const Name&, const Name&) = default;
};

// The same journey, count and classifier, whatever the method and lane.
bool IsSameCount(const Name& left, const Name& right);

// kInvalid when it is no text to be part of a key; `what` is for the message.
Status CheckPart(std::string_view what, std::string_view text);
// kInvalid when a part is empty or has anything but letters, digits and "_.-". Whether the names
// are known is the policy's to say.
Result<std::string> SortKeyOf(const Name& name);
Result<Name> ParseSortKey(std::string_view sort_key);
// "JOURNEY#COUNT#CLASSIFIER#": what all methods of one count begin with, and no longer name does.
std::string MethodsPrefix(const Name& name);

}  // namespace tidemark::attempts
