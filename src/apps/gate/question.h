// Question is one existence check under way: what is asked, with which credential, and by when.
// Inner to the gate; plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/gate/cache_rows.h"
#include "apps/gate/existence.h"
#include "apps/gate/tokens.h"
#include "base/deadline.h"

namespace tidemark::gate {

struct Question {
  std::string key;                   // Of the triple.
  std::vector<slack::Lookup> parts;  // The team, and the user and the channel if given.
  Credential credential;
  Deadline deadline;
};

// kInvalid when the id is none of its kind.
Status VerifyId(const slack::Lookup& entity);

std::vector<slack::Lookup> PartsOf(const Subject& subject);

// The rows to read for the triple's verdict, and those for each of its parts.
std::vector<std::string> TripleKeys(const Question& question);
std::vector<std::string> AllKeys(const Question& question);

// The generations that a question was asked under. Rows of others are not believed.
class Generations {
 public:
  // nullopt when a generation's row is damaged: nothing can be believed then.
  static std::optional<Generations> In(const Rows& rows, const Question& question);

  // "<credential>:<team>:<user>:<channel>", without those the question does not have.
  std::string OfTriple() const;
  // "<credential>:<team>:<own>".
  std::string OfPart(size_t part) const;

 private:
  std::string credential_;
  std::vector<int64_t> numbers_;  // One a part.
};

}  // namespace tidemark::gate
