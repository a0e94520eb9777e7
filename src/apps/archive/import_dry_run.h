// What a dry run of an import remembers of one conversation. An export may have the same row twice,
// in the files of two days. An import joins the second row with the first one, which is stored by
// then. A dry run stores nothing. So it remembers the first row, to count the same as the import.
//
// It keeps hashes and not rows, because a conversation may have millions of messages. May be used
// from several threads.
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
    kAgain,    // An earlier row says the same: joining this one would change nothing.
    kChanged,  // An earlier row says something else.
  };
  Sight See(const ImportedMessage& message);
  // False when the reaction was seen before. The key is the key of its row.
  bool SeeReaction(std::string_view key);

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> messages_;  // The hash of the last row, by ts.
  std::unordered_set<uint64_t> reactions_;
};

}  // namespace tidemark::archive
