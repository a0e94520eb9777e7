// Contents finds out whether the same content, or nearly the same, came under another key before.
// This is advice: it never changes what the claims decide.
//
//   ContentAdvice advice = TRY(contents.Note({.team = team, .key = key, .content = bytes}));
//   if (advice.duplicate_of) log("content duplicate of " + *advice.duplicate_of);
//
// Equal content is found by its SHA-256 hash. Near content is found by a 64-bit SimHash
// (simhash.h): two texts are near when at most three bits differ. Then at least one of the four
// quarters of the hash is equal, and texts are looked up by each quarter. It is a guess: some near
// texts are missed, and some that are not near are reported.
//
// The rows are in the table of the claims, for as long as its window, under keys that no claim may
// use. May be called from any thread. When two calls race, a piece of advice may get lost, nothing
// else.
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

// Whether the key is that of a content row. Claims must not use such keys.
bool IsContentKey(std::string_view key);

struct ContentOptions {
  std::string table;
  std::chrono::seconds window = std::chrono::hours(6);
  bool exact = true;
  bool near = true;
};

struct ContentNote {
  std::string team;
  std::string key;  // Of the event with the content.
  std::string_view content;
};

struct NearDuplicate {
  std::string key;
  int distance = 0;  // Bits of the SimHash that differ.
  friend bool operator==(const NearDuplicate&, const NearDuplicate&) = default;
};

struct ContentAdvice {
  std::optional<std::string> duplicate_of = std::nullopt;  // The first key with this content.
  std::vector<NearDuplicate> near = {};                    // Nearest first.
};

class Contents {
 public:
  // All outlive this.
  Contents(ContentOptions options, tables::Tables* tables, const Clock* clock);

  // Remembers the content and says where the same or nearly the same came before.
  Result<ContentAdvice> Note(const ContentNote& note);

 private:
  Result<std::optional<std::string>> NoteExact(const ContentNote& note);
  Result<std::vector<NearDuplicate>> NoteNear(const ContentNote& note);

  const ContentOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
};

}  // namespace tidemark::dedup
