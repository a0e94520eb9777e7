// The names of subjects and counts: the partition key and the sort key of the table. Every part is
// checked before it becomes part of a key, so no part can contain the '#' that separates them.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/secret.h"

namespace tidemark::attempts {

// The person or session whose attempts are counted: the partition key.
class Subject {
 public:
  // kInvalid when the id is empty, too long, or contains anything but letters, digits and
  // "_.:-/+=".
  static Result<Subject> Of(std::string_view subject_id);
  static Result<Subject> OfPairwise(std::string_view pairwise_id);
  // For counts that end with a session.
  static Result<Subject> OfSession(std::string_view session_id);
  // A keyed hash of the address in lower case. The address itself is never stored.
  static Result<Subject> OfEmail(std::string_view email, const Secret& key);
  // Where attempts come from, as the page names it: a network, an address, or a hash of one. Only
  // a keyed hash of that text is kept, so an empty key is refused like for an e-mail address.
  static Result<Subject> OfSource(std::string_view source, const Secret& key);
  // From the text of a subject: "ann", "pairwise~…", "session~…", "email~…" or "source~…".
  static Result<Subject> Parse(std::string_view text);
  // The partition key.
  const std::string& text() const { return text_; }
  // The same, but without the id of a session: a person who knows that id can use the session.
  std::string ForLog() const;
  bool IsSource() const;

  friend bool operator==(const Subject&, const Subject&) = default;
  friend auto operator<=>(const Subject&, const Subject&) = default;

 private:
  explicit Subject(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

inline constexpr std::string_view kGeneral = "GENERAL";
// The rule for sources is the rule for this journey and count, and the classifier GENERAL.
inline constexpr std::string_view kSourceJourney = "SOURCE";
inline constexpr std::string_view kSourceCount = "ERROR_COUNT";
// The name of a lock has this as its count.
inline constexpr std::string_view kLockCount = "LOCK";

// The sort key: JOURNEY#COUNT#CLASSIFIER, followed by #METHOD when there is one. `lane` is the
// known device that the count belongs to; when it is empty, all other devices share the count.
struct Name {
  std::string journey;
  std::string count;
  std::string classifier = std::string(kGeneral);
  std::string method = {};
  std::string lane = {};
  friend bool operator==(const Name&, const Name&) = default;
  friend auto operator<=>(const Name&, const Name&) = default;
};

// Whether journey, count and classifier are the same; method and lane may differ.
bool IsSameCount(const Name& left, const Name& right);

// kInvalid when the text cannot be part of a sort key; `what` names it in the message.
Status CheckPart(std::string_view what, std::string_view text);
// kInvalid when a part is empty or contains anything but letters, digits and "_.-". Whether the
// policy knows the names is not checked here.
Result<std::string> SortKeyOf(const Name& name);
Result<Name> ParseSortKey(std::string_view sort_key);
// "JOURNEY#COUNT#CLASSIFIER#": the sort keys of all methods of one count begin with this. The '#'
// at the end matters: without it the prefix would also match a longer classifier.
std::string MethodsPrefix(const Name& name);

}  // namespace tidemark::attempts
