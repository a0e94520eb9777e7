#include "apps/documents/checkpoint.h"

#include <charconv>

#include <fmt/format.h>

namespace tidemark::documents {

namespace {

// What stands before the next comma; nullopt when there is none.
std::optional<std::string_view> TakeField(std::string_view& text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view field = text.substr(0, comma);
  text.remove_prefix(comma + 1);
  return field;
}

std::optional<int64_t> NumberFrom(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 0) return std::nullopt;
  return number;
}

Error NoCheckpoint(std::string_view text) {
  return Invalid(fmt::format(
      "'{}' is no checkpoint: give back what an interrupted run said, as it said it", text));
}

}  // namespace

std::string ToText(const Checkpoint& checkpoint) {
  if (!checkpoint.mark) return ",," + checkpoint.last_key;
  return fmt::format("{},{},{}", checkpoint.mark->as_of.count(), checkpoint.mark->complete_from,
                     checkpoint.last_key);
}

Result<Checkpoint> ParseCheckpoint(std::string_view text) {
  std::string_view rest = text;
  const auto as_of = TakeField(rest);
  const auto complete_from = as_of ? TakeField(rest) : std::nullopt;
  if (!complete_from) return NoCheckpoint(text);
  Checkpoint checkpoint{.last_key = std::string(rest)};
  if (as_of->empty() && complete_from->empty()) return checkpoint;
  const auto milliseconds = NumberFrom(*as_of);
  const auto seconds = NumberFrom(*complete_from);
  if (!milliseconds || !seconds) return NoCheckpoint(text);
  checkpoint.mark =
      CoverageMark{.complete_from = *seconds, .as_of = std::chrono::milliseconds(*milliseconds)};
  return checkpoint;
}

}  // namespace tidemark::documents
