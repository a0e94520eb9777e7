// Whether the same contents, or nearly the same, came under another key: advice beside the
// verdict of the claims, never instead of it.
//
//   ContentAdvice advice = TRY(contents.Note({.team = team, .key = key, .content = bytes}));
//   if (advice.duplicate_of) log("content duplicate of " + *advice.duplicate_of);
//
// Equal contents are found by their SHA-256 hash. Near ones by a 64-bit SimHash: two texts are near
// when at most three bits differ, and then one of the hash's four quarters is equal, under which
// they are found. It is a guess: some near texts are missed, and some others reported.
//
// The rows lie in the table of the claims, under keys that no claim may have, for as long as its
// window. May be called from any thread. Losing a race loses a piece of advice, nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::dedup {

// Keys of the rows that are kept here, and that no claim may have.
bool IsContentKey(std::string_view key);

struct ContentOptions {
  std::string table;
  std::chrono::seconds window = std::chrono::hours(6);
  bool exact = true;
  bool near = true;
};

struct ContentNote {
  std::string team;
  std::string key;  // Of the event that brought the contents.
  std::string_view content;
};

struct NearDuplicate {
  std::string key;
  int distance = 0;  // Bits of the SimHash that differ.
  friend bool operator==(const NearDuplicate&, const NearDuplicate&) = default;
};

struct ContentAdvice {
  std::optional<std::string> duplicate_of = std::nullopt;  // The first key with these contents.
  std::vector<NearDuplicate> near = {};                    // The nearest first.
};

class Contents {
 public:
  // All outlive this.
  Contents(ContentOptions options, tables::Tables* tables, const Clock* clock);

  // Remembers the contents and says what they are like.
  Result<ContentAdvice> Note(const ContentNote& note);

 private:
  Result<std::optional<std::string>> NoteExact(const ContentNote& note);
  Result<std::vector<NearDuplicate>> NoteNear(const ContentNote& note);

  const ContentOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
};

}  // namespace tidemark::dedup
