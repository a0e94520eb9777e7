// What a dry run of an import remembers of one conversation. An export may have the same row twice,
// in the files of two days. The import would join the second one with the first; a dry run stores
// nothing, so it has to remember the first one to count them alike.
//
// Hashes, not rows: a conversation may have millions of messages. May be used from several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "apps/archive/import_row.h"

namespace tidemark::archive {

class SeenRows {
 public:
  enum class Sight {
    kFirst,    // No row of this message was seen before.
    kAgain,    // One that says the same: joining it would change nothing.
    kChanged,  // One that says something else.
  };
  Sight See(const ImportedMessage& message);
  // False when the reaction was seen before. The key is the one of its row.
  bool SeeReaction(std::string_view key);

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> messages_;  // What was told last, by ts.
  std::unordered_set<uint64_t> reactions_;
};

}  // namespace tidemark::archive
