#include "apps/documents/document_status.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tidemark::documents {

namespace {

using enum DocumentStatus;

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kNames = {"draft", "submitted", "approved", "completed",
                                                    "cancelled"};

const std::vector<DocumentStatus>& After(DocumentStatus status) {
  static const std::array<std::vector<DocumentStatus>, 5> after = {{
      {kSubmitted},
      {kApproved, kCancelled},
      // Editing what was approved asks for approval anew.
      {kSubmitted, kCompleted, kCancelled},
      {},
      {},
  }};
  return after.at(static_cast<size_t>(status));
}

std::string Names(const std::vector<DocumentStatus>& statuses) {
  std::string names;
  for (const DocumentStatus status : statuses) {
    names += names.empty() ? "" : " or ";
    names += ToString(status);
  }
  return names.empty() ? "nothing" : names;
}

}  // namespace

std::string_view ToString(DocumentStatus status) { return kNames.at(static_cast<size_t>(status)); }

std::optional<DocumentStatus> ParseDocumentStatus(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<DocumentStatus>(found - kNames.begin());
}

tidemark::Status VerifyTransition(DocumentStatus from, DocumentStatus to) {
  const std::vector<DocumentStatus>& after = After(from);
  if (from == to || std::find(after.begin(), after.end(), to) != after.end()) return Done{};
  return Invalid(fmt::format("a document that is {} cannot become {}: what may follow is {}",
                             ToString(from), ToString(to), Names(after)));
}

tidemark::Status VerifyDeletable(DocumentStatus status) {
  if (status == kDraft || status == kCancelled) return Done{};
  return Invalid(
      fmt::format("a document that is {} cannot be deleted: only a draft or a cancelled one can",
                  ToString(status)));
}

}  // namespace tidemark::documents
