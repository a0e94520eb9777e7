// The states of a document, and which follow which: draft → submitted → approved → completed;
// submitted and approved may be cancelled; an approved one that is edited is submitted again.
//
// Pure functions; may be called from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace tidemark::documents {

enum class DocumentStatus { kDraft, kSubmitted, kApproved, kCompleted, kCancelled };

std::string_view ToString(DocumentStatus status);  // "draft", "submitted", …
// nullopt when there is no such status.
std::optional<DocumentStatus> ParseDocumentStatus(std::string_view text);

// kInvalid, saying what may follow, when a document may not go from one to the other. Staying
// where it is is allowed.
tidemark::Status VerifyTransition(DocumentStatus from, DocumentStatus to);
// kInvalid unless a document in this status may be deleted: drafts and cancelled ones may.
tidemark::Status VerifyDeletable(DocumentStatus status);

}  // namespace tidemark::documents
