// A Document is a change or an announcement: its JSON text, kept byte for byte, and the facts by
// which queries find it.
//
//   Document document = TRY(Document::Parse(body));
//   if (const auto* change = std::get_if<Change>(&document.details())) ...
//
// Parsing validates, so every Document may be stored. Unknown members stay in the text. The text is
// what is stored, served and compared.
//
// Plain data and pure functions; may be used from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_text.h"

namespace tidemark::documents {

// The states of a document: draft → submitted → approved → completed. Submitted and approved
// documents may be cancelled. An approved document that is edited is submitted again.
enum class DocumentStatus { kDraft, kSubmitted, kApproved, kCompleted, kCancelled };
inline constexpr std::array kAllStatuses = {DocumentStatus::kDraft, DocumentStatus::kSubmitted,
                                            DocumentStatus::kApproved, DocumentStatus::kCompleted,
                                            DocumentStatus::kCancelled};

std::string_view ToString(DocumentStatus status);  // "draft", "submitted", …
// Returns nullopt when there is no such status.
std::optional<DocumentStatus> ParseDocumentStatus(std::string_view text);

// kInvalid, with the states that may follow, when a document may not go from one to the other. A
// document may always stay in its state.
Status VerifyTransition(DocumentStatus from, DocumentStatus to);
// kInvalid unless a document in this state may be deleted: only drafts and cancelled ones may.
Status VerifyDeletable(DocumentStatus status);

// The kinds of the type index. Announcements of all types are one kind.
enum class DocumentKind { kChange, kAnnouncement };

std::string_view ToString(DocumentKind kind);  // "change", "announcement"
// Returns nullopt when there is no such kind.
std::optional<DocumentKind> ParseDocumentKind(std::string_view text);

struct Change {
  std::string title;  // changeTitle
  friend bool operator==(const Change&, const Change&) = default;
};

struct Announcement {
  std::string type;  // The part after "announcement_": cic, finops, innersource or general.
  std::string title;
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

using Details = std::variant<Change, Announcement>;

// The facts by which queries find a document.
struct DocumentFacts {
  DocumentKind kind = DocumentKind::kChange;
  DocumentStatus status = DocumentStatus::kSubmitted;
  std::vector<std::string> customers = {};  // In the document's order, without repeats.
  EpochSeconds created_at = 0;
  EpochSeconds modified_at = 0;
  friend bool operator==(const DocumentFacts&, const DocumentFacts&) = default;
};

bool IsFor(const DocumentFacts& facts, std::string_view customer);

// kInvalid when the text cannot be the id of a document: it is empty or too long, contains a
// control character, '/' or '#', begins with '~', or consists of dots only.
Status ValidateId(std::string_view id);
// The same for a customer's code, which may begin with '~' and may consist of dots.
Status ValidateCustomer(std::string_view code);

class Document {
 public:
  // kInvalid, naming the member, when the text is not a JSON object, the id or the creation time is
  // missing, the type or the status is unknown, a change has no title, an announcement has no
  // customers, there are more than kMaxCustomers, a member is there twice, or there is a legacy
  // member metadata or source. A missing status means submitted. A missing modification time is the
  // creation time.
  static Result<Document> Parse(std::string json);

  const std::string& json() const { return *json_; }
  // The same text. Copies of a document share it.
  const SharedText& shared_json() const { return json_; }
  const std::string& id() const { return id_; }
  const Details& details() const { return details_; }
  const DocumentFacts& facts() const { return facts_; }
  int64_t version() const { return version_; }  // 0 when it has none.

  friend bool operator==(const Document& left, const Document& right) {
    return left.json() == right.json();
  }

 private:
  friend class DocumentParser;
  Document() = default;

  SharedText json_;
  std::string id_;
  Details details_;
  DocumentFacts facts_;
  int64_t version_ = 0;
};

// A document as a range finds it: its text and its facts, without parsing the text. A range passes
// the text on as it is, and parsing would cost more than finding it.
class FoundDocument {
 public:
  FoundDocument(std::string id, DocumentFacts facts, SharedText json)
      : id_(std::move(id)), facts_(std::move(facts)), json_(std::move(json)) {}
  explicit FoundDocument(const Document& document)
      : FoundDocument(document.id(), document.facts(), document.shared_json()) {}

  const std::string& id() const { return id_; }
  const DocumentFacts& facts() const { return facts_; }
  const std::string& json() const { return *json_; }
  const SharedText& shared_json() const { return json_; }

  friend bool operator==(const FoundDocument& found, const Document& document) {
    return found.json() == document.json();
  }

 private:
  std::string id_;
  DocumentFacts facts_;
  SharedText json_;
};

}  // namespace tidemark::documents
