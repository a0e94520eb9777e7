#include "apps/documents/cache_error.h"

#include <array>
#include <iterator>

#include <fmt/format.h>

namespace tidemark::documents {

namespace {

struct TypeRow {
  std::string_view name;
  ErrorCode code;
};

// In the order of the enumerators.
constexpr std::array<TypeRow, 7> kTypes = {{{"not_found", ErrorCode::kNotFound},
                                            {"throttling", ErrorCode::kUnavailable},
                                            {"validation", ErrorCode::kInvalid},
                                            {"network", ErrorCode::kUnavailable},
                                            {"unavailable", ErrorCode::kUnavailable},
                                            {"conflict", ErrorCode::kConflict},
                                            {"cancelled", ErrorCode::kUnavailable}}};

const TypeRow& RowOf(CacheErrorType type) { return kTypes.at(static_cast<size_t>(type)); }

}  // namespace

std::string_view ToString(CacheErrorType type) { return RowOf(type).name; }

CacheError NotFound(std::string message) {
  return {.type = CacheErrorType::kNotFound, .message = std::move(message)};
}

CacheError Refused(std::string message) {
  return {.type = CacheErrorType::kValidation, .message = std::move(message)};
}

CacheError Refused(Error error) {
  CacheError refused = Refused(error.message);
  refused.causes.push_back(std::move(error));
  return refused;
}

CacheError Conflict(std::string message) {
  return {.type = CacheErrorType::kConflict, .message = std::move(message), .retryable = true};
}

CacheError Cancelled(std::string message) {
  return {.type = CacheErrorType::kCancelled, .message = std::move(message), .retryable = true};
}

CacheError Both(CacheError first, CacheError second) {
  CacheError both{.type = CacheErrorType::kUnavailable,
                  .message = fmt::format("{}; {}", first.message, second.message),
                  .causes = std::move(first.causes),
                  .retryable = first.retryable || second.retryable};
  both.causes.insert(both.causes.end(), std::make_move_iterator(second.causes.begin()),
                     std::make_move_iterator(second.causes.end()));
  return both;
}

Error ToError(const CacheError& error) { return {RowOf(error.type).code, error.message}; }

}  // namespace tidemark::documents
