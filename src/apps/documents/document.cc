#include "apps/documents/document.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"
#include "apps/documents/rfc3339.h"
#include "base/json.h"

namespace tidemark::documents {

namespace {

constexpr std::string_view kAnnouncementPrefix = "announcement_";
constexpr std::array<std::string_view, 4> kAnnouncementTypes = {"cic", "finops", "innersource",
                                                                "general"};

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// What would break a key: of an object, or of a pointer.
Status ValidateKeyPart(std::string_view text, std::string_view what, size_t max_bytes) {
  if (text.empty()) return Invalid(fmt::format("{} is empty", what));
  if (text.size() > max_bytes) {
    return Invalid(fmt::format("{} has {} bytes, more than {}", what, text.size(), max_bytes));
  }
  const bool is_plain = std::none_of(text.begin(), text.end(),
                                     [](char c) { return IsControl(c) || c == '/' || c == '#'; });
  if (is_plain) return Done{};
  return Invalid(fmt::format("{} has a '/', a '#' or a control character in it", what));
}

// The first of the names that is there and not null: documents spell some members in two ways.
std::optional<Json> FindAny(const Json& root, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::optional<Json> found = root.Find(name);
    if (found && !found->IsNull()) return found;
  }
  return std::nullopt;
}

Result<std::string> TextOf(const Json& root, std::string_view name) {
  const std::optional<Json> member = FindAny(root, {name});
  const auto text = member ? member->AsString() : std::nullopt;
  if (!text || text->empty()) return Invalid(fmt::format("the document has no text in {}", name));
  return std::string(*text);
}

// Epoch seconds from a time as text or as a number. 0 is what a program writes that has none.
Result<std::optional<EpochSeconds>> TimeOf(const Json& root, std::string_view name,
                                           std::string_view other_name) {
  const std::optional<Json> member = FindAny(root, {name, other_name});
  if (!member) return std::optional<EpochSeconds>();
  const auto text = member->AsString();
  const std::optional<EpochSeconds> time = text ? ParseRfc3339(*text) : member->AsInt();
  if (!time) {
    return Invalid(fmt::format("{} is neither an RFC 3339 time nor whole epoch seconds", name));
  }
  if (*time > kLastSecond) return Invalid(fmt::format("{} lies behind the year 9999", name));
  return *time > 0 ? time : std::nullopt;
}

Result<Details> DetailsOf(const Json& root) {
  const std::string type = TRY(TextOf(root, "object_type"));
  if (type == "change") {
    Change change;
    change.title = TRY(TextOf(root, "changeTitle"));
    return Details(std::move(change));
  }
  Announcement announcement;
  if (type.starts_with(kAnnouncementPrefix)) {
    announcement.type = type.substr(kAnnouncementPrefix.size());
  }
  if (std::find(kAnnouncementTypes.begin(), kAnnouncementTypes.end(), announcement.type) ==
      kAnnouncementTypes.end()) {
    return Invalid(
        "object_type is none of change, announcement_cic, announcement_finops, "
        "announcement_innersource and announcement_general");
  }
  const std::optional<Json> title = FindAny(root, {"title"});
  announcement.title = std::string(title ? title->AsString().value_or("") : "");
  return Details(std::move(announcement));
}

Result<std::vector<std::string>> CustomersOf(const Json& root) {
  std::vector<std::string> customers;
  const std::optional<Json> member = FindAny(root, {"customers"});
  if (!member) return customers;
  if (!member->IsArray()) return Invalid("customers is not a list");
  // Before the search for repeats, which would be slow in a list without bound.
  if (member->Size() > kMaxCustomers) {
    return Invalid(
        fmt::format("customers has {} entries, more than {}", member->Size(), kMaxCustomers));
  }
  for (const Json element : member->Elements()) {
    const auto code = element.AsString();
    if (!code) return Invalid("customers has an entry that is no text");
    TRY(ValidateCustomer(*code));
    if (std::find(customers.begin(), customers.end(), *code) == customers.end()) {
      customers.emplace_back(*code);
    }
  }
  return customers;
}

Result<DocumentStatus> StatusOf(const Json& root) {
  const std::optional<Json> member = FindAny(root, {"status"});
  const std::string_view text = member ? member->AsString().value_or("?") : "";
  if (text.empty()) return DocumentStatus::kSubmitted;
  const auto status = ParseDocumentStatus(text);
  if (status) return *status;
  return Invalid("status is none of draft, submitted, approved, completed and cancelled");
}

// Documents of before have members that nobody reads any more; what they mean is not known.
Status RefuseLegacy(const Json& root) {
  const std::optional<Json> source = FindAny(root, {"source"});
  const bool has_source = source && source->AsString() != "";
  if (!has_source && !FindAny(root, {"metadata"})) return Done{};
  return Invalid("the document has the legacy member metadata or source: convert it first");
}

}  // namespace

std::string_view ToString(DocumentKind kind) {
  return kind == DocumentKind::kChange ? "change" : "announcement";
}

std::optional<DocumentKind> ParseDocumentKind(std::string_view text) {
  if (text == "change") return DocumentKind::kChange;
  if (text == "announcement") return DocumentKind::kAnnouncement;
  return std::nullopt;
}

bool IsFor(const DocumentFacts& facts, std::string_view customer) {
  return std::find(facts.customers.begin(), facts.customers.end(), customer) !=
         facts.customers.end();
}

Status ValidateId(std::string_view id) {
  TRY(ValidateKeyPart(id, "the document's id", kMaxIdBytes));
  // "~" begins the keys of rows that are no documents.
  if (id.find_first_not_of('.') == std::string_view::npos || id.front() == '~') {
    return Invalid("the document's id is made of dots alone, or begins with '~'");
  }
  return Done{};
}

Status ValidateCustomer(std::string_view code) {
  return ValidateKeyPart(code, "a customer's code", kMaxCustomerBytes);
}

// Fills a document from its text.
class DocumentParser {
 public:
  static Result<Document> Parse(std::string json) {
    const JsonDocument parsed =
        TRY(JsonDocument::Parse(json).WithContext("the document is not JSON"));
    const Json root = parsed.root();
    if (!root.IsObject()) return Invalid("the document is not a JSON object");
    TRY(RefuseLegacy(root));
    Document document;
    document.details_ = TRY(DetailsOf(root));
    const bool is_change = std::holds_alternative<Change>(document.details_);
    document.id_ = TRY(TextOf(root, is_change ? "changeId" : "announcement_id"));
    TRY(ValidateId(document.id_));
    document.facts_ = TRY(FactsOf(root, is_change));
    const std::optional<Json> version = FindAny(root, {"version"});
    document.version_ = version ? version->AsInt().value_or(0) : 0;
    document.json_ = std::move(json);
    return document;
  }

 private:
  static Result<DocumentFacts> FactsOf(const Json& root, bool is_change) {
    DocumentFacts facts;
    facts.kind = is_change ? DocumentKind::kChange : DocumentKind::kAnnouncement;
    facts.status = TRY(StatusOf(root));
    facts.customers = TRY(CustomersOf(root));
    if (!is_change && facts.customers.empty()) return Invalid("an announcement has no customers");
    const auto created_at = TRY(TimeOf(root, "createdAt", "created_at"));
    if (!created_at) return Invalid("the document has no time in createdAt or created_at");
    const auto modified_at = TRY(TimeOf(root, "modifiedAt", "modified_at"));
    facts.created_at = *created_at;
    facts.modified_at = modified_at.value_or(*created_at);
    return facts;
  }
};

Result<Document> Document::Parse(std::string json) {
  if (json.size() > kMaxDocumentBytes) {
    return Invalid(
        fmt::format("the document has {} bytes, more than {}", json.size(), kMaxDocumentBytes));
  }
  return DocumentParser::Parse(std::move(json));
}

}  // namespace tidemark::documents
