// A Question is one existence check: which ids, with which credential, and until when. Used only
// inside the gate. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/gate/cache_rows.h"
#include "apps/gate/existence.h"
#include "apps/gate/tokens.h"
#include "base/deadline.h"

namespace tidemark::gate {

struct Question {
  std::string key;  // The cache key of the triple.
  slack::TeamId team;
  std::vector<slack::Lookup> parts;  // The team, then the user and the channel if given.
  Credential credential;
  Deadline deadline;
};

// kInvalid when the id does not have the format of its kind.
Status VerifyId(const slack::Lookup& entity);

std::vector<slack::Lookup> PartsOf(const Subject& subject);

// The keys of the rows to read: the triple's row and the generations; and with AllKeys also the
// row of each part.
std::vector<std::string> TripleKeys(const Question& question);
std::vector<std::string> AllKeys(const Question& question);

// The current generations of a question's credential and ids. Rows with other generations are not
// used.
class Generations {
 public:
  // nullopt when the row of a generation is damaged. Then no row may be used.
  static std::optional<Generations> In(const Rows& rows, const Question& question);

  // "<credential>:<team>:<user>:<channel>", without the ids that the question does not have.
  std::string OfTriple() const;
  // Whether none of the ids was ever invalidated.
  bool AreAllZero() const;
  // "<credential>:<team>:<own>".
  std::string OfPart(size_t part) const;

 private:
  std::string credential_;
  std::vector<int64_t> numbers_;  // One for each part.
};

}  // namespace tidemark::gate
