// A function returns Result<T> if it can fail for reasons outside of the program. It is either a
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
// fields of a reply. The members have the names of std::expected where possible.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace tidemark {

// Grouped by what the caller can do about it.
enum class ErrorCode {
  kInvalid,      // The request is wrong: change it.
  kNotFound,     // The table, index, stream or folder named does not exist.
  kInUse,        // It exists already, or is being changed: choose another or wait.
  kConflict,     // Another writer came first: try again.
  kUnavailable,  // Nothing was done; try later.
  kThrottled,    // Nothing was done, because of too many requests: try later, and more slowly.
  kUnreachable,  // Nothing was done, because there was no answer: try again.
  kCancelled,    // The caller stopped it, or its deadline passed while it waited.
  kUnknown,      // It may or may not have been done: check before trying again.
  kDenied,       // Not allowed to.
  kCorrupt,      // Stored data is damaged and is not returned.
  kInternal,     // A bug of this program.
};

// The code's name in lower case with underscores, such as "not_found".
std::string_view ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

inline Error Invalid(std::string message) { return {ErrorCode::kInvalid, std::move(message)}; }

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)  // NOLINT: implicit
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Reading the value of a failure, or the error of a success, is a bug and stops the program.
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
  Error& error() & {
    CHECK(!has_value());
    return std::get<1>(state_);
  }
  const Error& error() const& {
    CHECK(!has_value());
    return std::get<1>(state_);
  }
  Error&& error() && {
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
  std::variant<T, Error> state_;
};

// The value of a success without a result.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};
using Status = Result<Done>;

}  // namespace tidemark

// Yields the value of a Result, or returns its Error from the surrounding function. It is a
// statement expression, which GCC and clang support. Do not use it in a braced initializer after a
// member that owns memory: on the early return GCC 12 does not destroy that member.
#define TRY(expression)                        \
  __extension__({                              \
    auto try_result_ = (expression);           \
    if (!try_result_.has_value()) [[unlikely]] \
      return std::move(try_result_).error();   \
    std::move(try_result_).value();            \
  })
