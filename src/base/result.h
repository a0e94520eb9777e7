// Result<T> is what a function returns when the outside can make it fail: either a
// value, or an Error that says what was wrong, where, and what to do.
//
//   Result<Number> Parse(std::string_view text);
//
//   Result<Item> Load(...) {
//     Number number = TRY(Parse(text));                   // returns the error early
//     TRY(Store(number).WithContext("storing the count")); // prefixes the message
//     return item;
//   }
//
// Expected outcomes (absent, condition not met, cancelled) are not errors: they are
// fields of a reply. Member names follow std::expected where it has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace tidemark {

// Grouped by what the caller can do about it.
enum class ErrorCode {
  kInvalid,      // The request is wrong: change it.
  kNotFound,     // The table, index, stream or folder named does not exist.
  kInUse,        // It exists already, or is being changed: pick another or wait.
  kConflict,     // Another writer came first: try again.
  kUnavailable,  // Nothing was done; try later.
  kUnknown,      // It may or may not have been done: look before trying again.
  kDenied,       // Not allowed to.
  kCorrupt,      // Stored data is damaged; nothing of it is served.
  kInternal,     // A fault of ours.
};

// The code's name in lower case with underscores, such as "not_found".
std::string_view ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

inline Error Invalid(std::string message) { return {ErrorCode::kInvalid, std::move(message)}; }

// E is another type where callers tell errors apart by more than their code.
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, E> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)  // NOLINT: implicit
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Asking a failure for its value, or a success for its error, is a fault of the program.
  T& value() & {
    CHECK(has_value());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CHECK(has_value());
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK(has_value());
    return std::get<0>(std::move(state_));
  }
  E& error() & {
    CHECK(!has_value());
    return std::get<1>(state_);
  }
  const E& error() const& {
    CHECK(!has_value());
    return std::get<1>(state_);
  }
  E&& error() && {
    CHECK(!has_value());
    return std::get<1>(std::move(state_));
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // On failure, "context: message"; on success, unchanged.
  Result WithContext(std::string_view context) && {
    if (!has_value()) error().message.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

 private:
  std::variant<T, E> state_;
};

// The value of a success that has nothing to say.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};
using Status = Result<Done>;

}  // namespace tidemark

// Yields the value of a Result, or returns its Error from the function around it, by the
// statement expressions of GCC and clang. Not in a braced initializer behind a member that owns
// memory: on the early return GCC 12 does not destroy that member.
#define TRY(expression)                        \
  __extension__({                              \
    auto try_result_ = (expression);           \
    if (!try_result_.has_value()) [[unlikely]] \
      return std::move(try_result_).error();   \
    std::move(try_result_).value();            \
  })
