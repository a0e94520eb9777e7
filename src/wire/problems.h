// What is wrong with a request, and how DynamoDB says it.
//
// DynamoDB checks in this order: whether the JSON has the right types; the constraints of all
// members; whether parameters may stand together; everything else. So a reader collects problems
// until its end, and the first kind that there is becomes the error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tidemark::wire {

// AWS checks requests with two programs, and moves operations from the older one to the newer one
// after another. The newer one has its own words for some constraints, and reports these alone.
enum class Layer {
  kOlder,
  kNewer,
  // The newer one for writes of one item: it also begins other messages with "1 validation error
  // detected: ".
  kEnveloping,
};

// A constraint that a member violates.
struct Violation {
  std::string path;        // "KeySchema.1.member.AttributeName"
  std::string older_path;  // "keySchema.1.member.attributeName"
  std::string value;       // "null", "'x'", or empty: it is not shown.
  std::string constraint;  // "Member must not be null"
  // The newer layers check it before all others, and do not repeat the value.
  bool is_newer = false;
  // What the newer layers say instead; empty: the same.
  std::string newer_text = {};
};

class Problems {
 public:
  explicit Problems(Layer layer) : layer_(layer) {}

  Layer layer() const { return layer_; }
  // As AWS does, it counts only the first ten.
  void Add(Violation violation) {
    constexpr size_t kMostViolations = 10;
    if (is_closed_ || violations_.size() == kMostViolations) return;
    violations_.push_back(std::move(violation));
  }
  // The newer layers look for no further violations once there is one.
  void CloseIfNewer() { is_closed_ = layer_ != Layer::kOlder && !violations_.empty(); }
  // An error that is no violation. The first one is kept; one about the types of the JSON takes the
  // place of one about anything else.
  void Add(Error error);
  // An error that DynamoDB reports before the constraints of other members.
  void AddBeforeViolations(Error error);
  // An error about parameters that may not stand together, or not alone.
  void AddOfParameters(Error error);
  // Done if there is no problem.
  Status Finish() const;

 private:
  const Layer layer_;
  std::optional<Error> of_types_;
  std::optional<Error> before_violations_;
  std::vector<Violation> violations_;
  bool is_closed_ = false;
  std::optional<Error> of_parameters_;
  std::optional<Error> error_;
};

// The error as this layer says it.
Error InWordsOf(Layer layer, Error error);

}  // namespace tidemark::wire
