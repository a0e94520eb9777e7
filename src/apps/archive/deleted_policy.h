// What readers see of a deleted message. Plain data.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace tidemark::archive {

// Of a deleted message's text, files and older versions.
enum class DeletedText {
  kShow,
  kRedact,  // Only that there was a message.
  kPurge,   // Shown until purge_after has passed since the deletion; then it is removed.
};

inline constexpr std::array<std::pair<DeletedText, std::string_view>, 3> kDeletedTexts = {
    {{DeletedText::kShow, "show"},
     {DeletedText::kRedact, "redact"},
     {DeletedText::kPurge, "purge"}}};

struct DeletedPolicy {
  DeletedText text = DeletedText::kShow;
  std::chrono::seconds purge_after = std::chrono::hours(30 * 24);
  friend bool operator==(const DeletedPolicy&, const DeletedPolicy&) = default;
};

}  // namespace tidemark::archive
