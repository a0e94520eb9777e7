// Slack's ids as types. An id is checked when it is made: it has no separator, no lower-case
// letter and the first letter of its own kind. Therefore keys that join ids cannot collide.
//
//   TeamId team = TRY(TeamId::Parse("T01234567"));
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tidemark::slack {

inline constexpr size_t kMinIdLength = 3;
inline constexpr size_t kMaxIdLength = 40;

namespace internal {

// Accepts one of the letters in `prefixes` followed by upper-case letters and digits. The error
// begins with the field's name: "team_id ...".
Status CheckId(std::string_view field, std::string_view prefixes, std::string_view text);

template <typename Kind>
class Id {
 public:
  // kInvalid when the text is not an id of this kind.
  static Result<Id> Parse(std::string_view text) {
    TRY(CheckId(Kind::kField, Kind::kPrefixes, text));
    return Id(std::string(text));
  }
  const std::string& text() const { return text_; }
  friend bool operator==(const Id&, const Id&) = default;
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  explicit Id(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

struct TeamKind {
  static constexpr std::string_view kField = "team_id";
  static constexpr std::string_view kPrefixes = "TE";  // E: an enterprise.
};
struct UserKind {
  static constexpr std::string_view kField = "user_id";
  static constexpr std::string_view kPrefixes = "UW";
};
struct ChannelKind {
  static constexpr std::string_view kField = "channel_id";
  static constexpr std::string_view kPrefixes = "CGD";
};

}  // namespace internal

using TeamId = internal::Id<internal::TeamKind>;
using UserId = internal::Id<internal::UserKind>;
using ChannelId = internal::Id<internal::ChannelKind>;

}  // namespace tidemark::slack
