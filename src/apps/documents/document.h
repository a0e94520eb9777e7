// A Document is a change or an announcement: the JSON text as it was given, byte for byte, and
// what is read from it to find it by.
//
//   Document document = TRY(Document::Parse(body));
//   if (const auto* change = std::get_if<Change>(&document.details())) ...
//
// Parsing validates: there is no Document that may not be stored. Members that are not known stay
// in the text, which is what is stored, served and compared. Plain data after that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/documents/document_status.h"
#include "base/clock.h"
#include "base/result.h"

namespace tidemark::documents {

// What the type index knows. Announcements of all types are one kind.
enum class DocumentKind { kChange, kAnnouncement };

std::string_view ToString(DocumentKind kind);  // "change", "announcement"
// nullopt when there is no such kind.
std::optional<DocumentKind> ParseDocumentKind(std::string_view text);

struct Change {
  std::string title;  // changeTitle
  friend bool operator==(const Change&, const Change&) = default;
};

struct Announcement {
  std::string type;  // What stands behind "announcement_": cic, finops, innersource, general.
  std::string title;
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

using Details = std::variant<Change, Announcement>;

// What a document is found by.
struct DocumentFacts {
  DocumentKind kind = DocumentKind::kChange;
  DocumentStatus status = DocumentStatus::kSubmitted;
  std::vector<std::string> customers = {};  // In the document's order, each once.
  EpochSeconds created_at = 0;
  EpochSeconds modified_at = 0;
  friend bool operator==(const DocumentFacts&, const DocumentFacts&) = default;
};

bool IsFor(const DocumentFacts& facts, std::string_view customer);

// kInvalid when a text cannot be a document's id: empty, too long, with a control character, '/'
// or '#', beginning with '~', or only of dots.
Status ValidateId(std::string_view id);
// The same for a customer's code, which may begin with '~' and be of dots.
Status ValidateCustomer(std::string_view code);

class Document {
 public:
  // kInvalid, naming the member, when the text is no JSON object, has no id, an unknown type or
  // status, no creation time or a zero one, a change without title, an announcement without
  // customers, more customers than kMaxCustomers, or the legacy members metadata or source. A
  // missing status is submitted; a missing time of modification is that of creation.
  static Result<Document> Parse(std::string json);

  const std::string& json() const { return json_; }
  const std::string& id() const { return id_; }
  const Details& details() const { return details_; }
  const DocumentFacts& facts() const { return facts_; }
  int64_t version() const { return version_; }  // 0 when it has none.

  friend bool operator==(const Document& left, const Document& right) {
    return left.json_ == right.json_;
  }

 private:
  friend class DocumentParser;
  Document() = default;

  std::string json_;
  std::string id_;
  Details details_;
  DocumentFacts facts_;
  int64_t version_ = 0;
};

// A document as a range finds it: its text and what it was found by, which is enough to hand it on.
// Reading it whole costs more than finding it.
class FoundDocument {
 public:
  FoundDocument(std::string id, DocumentFacts facts, std::string json)
      : id_(std::move(id)), facts_(std::move(facts)), json_(std::move(json)) {}
  explicit FoundDocument(const Document& document)
      : FoundDocument(document.id(), document.facts(), document.json()) {}

  const std::string& id() const { return id_; }
  const DocumentFacts& facts() const { return facts_; }
  const std::string& json() const { return json_; }

  friend bool operator==(const FoundDocument& found, const Document& document) {
    return found.json_ == document.json();
  }

 private:
  std::string id_;
  DocumentFacts facts_;
  std::string json_;
};

}  // namespace tidemark::documents
