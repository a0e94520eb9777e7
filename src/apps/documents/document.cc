#include "apps/documents/document.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"
#include "base/json.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

namespace tidemark::documents {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kStatusNames = {"draft", "submitted", "approved",
                                                          "completed", "cancelled"};

const std::vector<DocumentStatus>& StatesAfter(DocumentStatus status) {
  static const std::array<std::vector<DocumentStatus>, 5> after = {{
      {DocumentStatus::kSubmitted},
      {DocumentStatus::kApproved, DocumentStatus::kCancelled},
      // An approved document that is edited needs a new approval.
      {DocumentStatus::kSubmitted, DocumentStatus::kCompleted, DocumentStatus::kCancelled},
      {},
      {},
  }};
  return after.at(static_cast<size_t>(status));
}

std::string JoinNames(const std::vector<DocumentStatus>& statuses) {
  std::string names;
  for (const DocumentStatus status : statuses) {
    names += names.empty() ? "" : " or ";
    names += ToString(status);
  }
  return names.empty() ? "nothing else" : names;
}

constexpr std::string_view kAnnouncementPrefix = "announcement_";
constexpr std::array<std::string_view, 4> kAnnouncementTypes = {"cic", "finops", "innersource",
                                                                "general"};

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Refuses what would make the key of an object or of a pointer ambiguous.
Status ValidateKeyPart(std::string_view text, std::string_view what, size_t max_bytes) {
  if (text.empty()) return Invalid(fmt::format("{} is empty", what));
  if (text.size() > max_bytes) {
    return Invalid(fmt::format("{} has {} bytes, more than {}", what, text.size(), max_bytes));
  }
  if (!IsUtf8(text)) return Invalid(fmt::format("{} is not UTF-8", what));
  const bool is_plain = std::none_of(text.begin(), text.end(),
                                     [](char c) { return IsControl(c) || c == '/' || c == '#'; });
  if (is_plain) return Done{};
  return Invalid(fmt::format("{} has a '/', a '#' or a control character in it", what));
}

// The first of these members that is present and not null. Documents spell some members in two
// ways.
std::optional<Json> FindAny(const Json& root, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::optional<Json> found = root.Find(name);
    if (found && !found->IsNull()) return found;
  }
  return std::nullopt;
}

Result<std::string> TextOf(const Json& root, std::string_view name) {
  std::string text = TextIn(root, name);
  if (text.empty()) return Invalid(fmt::format("the document has no text in the member {}", name));
  return text;
}

// Epoch seconds from a time as text or as a number. Programs write 0 when they have no time, so 0
// counts as absent.
Result<std::optional<EpochSeconds>> TimeOf(const Json& root, std::string_view name,
                                           std::string_view other_name) {
  const std::optional<Json> member = FindAny(root, {name, other_name});
  if (!member) return std::optional<EpochSeconds>();
  const auto text = member->AsString();
  const std::optional<EpochSeconds> time = text ? ParseRfc3339(*text) : member->AsInt();
  if (!time) {
    return Invalid(fmt::format(
        "the member {} is neither an RFC 3339 time nor a whole number of epoch seconds", name));
  }
  if (*time > kLastSecond) return Invalid(fmt::format("{} is after the year 9999", name));
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
        "object_type must be change, announcement_cic, announcement_finops, "
        "announcement_innersource or announcement_general");
  }
  announcement.title = TextIn(root, "title");
  return Details(std::move(announcement));
}

Result<std::vector<std::string>> CustomersOf(const Json& root) {
  std::vector<std::string> customers;
  const std::optional<Json> member = FindAny(root, {"customers"});
  if (!member) return customers;
  if (!member->IsArray()) return Invalid("customers is not a list");
  // Checked before the search for repeats, which takes quadratic time.
  if (member->Size() > kMaxCustomers) {
    return Invalid(
        fmt::format("customers has {} entries, more than {}", member->Size(), kMaxCustomers));
  }
  for (const Json element : member->Elements()) {
    const auto code = element.AsString();
    if (!code) return Invalid("customers has an entry that is not text");
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
  return Invalid("status must be draft, submitted, approved, completed or cancelled");
}

// Programs disagree about which of two members with the same name counts.
Status RefuseRepeatedNames(Json json) {
  if (json.IsArray()) {
    for (const Json element : json.Elements()) TRY(RefuseRepeatedNames(element));
  }
  if (!json.IsObject()) return Done{};
  std::vector<std::string_view> names;
  for (const auto& [name, value] : json.Members()) {
    names.push_back(name);
    TRY(RefuseRepeatedNames(value));
  }
  std::sort(names.begin(), names.end());
  const auto repeated = std::adjacent_find(names.begin(), names.end());
  if (repeated == names.end()) return Done{};
  return Invalid(fmt::format("the document has the member {} twice: remove one", *repeated));
}

// Old documents have members whose meaning is not defined any more.
Status RefuseLegacy(const Json& root) {
  const std::optional<Json> source = FindAny(root, {"source"});
  const bool has_source = source && source->AsString() != "";
  if (!has_source && !FindAny(root, {"metadata"})) return Done{};
  return Invalid("the document has the legacy member metadata or source: convert it first");
}

}  // namespace

std::string_view ToString(DocumentStatus status) {
  return kStatusNames.at(static_cast<size_t>(status));
}

std::optional<DocumentStatus> ParseDocumentStatus(std::string_view text) {
  const auto found = std::find(kStatusNames.begin(), kStatusNames.end(), text);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<DocumentStatus>(found - kStatusNames.begin());
}

Status VerifyTransition(DocumentStatus from, DocumentStatus to) {
  const std::vector<DocumentStatus>& after = StatesAfter(from);
  if (from == to || std::find(after.begin(), after.end(), to) != after.end()) return Done{};
  return Invalid(fmt::format("a document that is {} cannot become {}: it can become {}",
                             ToString(from), ToString(to), JoinNames(after)));
}

Status VerifyDeletable(DocumentStatus status) {
  if (status == DocumentStatus::kDraft || status == DocumentStatus::kCancelled) return Done{};
  return Invalid(
      fmt::format("a document that is {} cannot be deleted: only a draft or a cancelled one can",
                  ToString(status)));
}

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
  // Rows that are not documents, such as the coverage mark, have keys that begin with "~".
  if (id.find_first_not_of('.') == std::string_view::npos || id.front() == '~') {
    return Invalid("the document's id consists of dots only, or begins with '~'");
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
    TRY(RefuseRepeatedNames(root));
    TRY(RefuseLegacy(root));
    Document document;
    document.details_ = TRY(DetailsOf(root));
    const bool is_change = std::holds_alternative<Change>(document.details_);
    document.id_ = TRY(TextOf(root, is_change ? "changeId" : "announcement_id"));
    TRY(ValidateId(document.id_));
    document.facts_ = TRY(FactsOf(root, is_change));
    document.version_ = IntegerIn(root, "version");
    document.json_ = ShareText(std::move(json));
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
