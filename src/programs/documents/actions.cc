#include "programs/documents/actions.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/documents/document.h"
#include "base/json.h"
#include "http/url.h"
#include "programs/documents/source.h"
#include "programs/output.h"

namespace tidemark::programs {

namespace {

using documents::Document;
using http::Method;
using http::PercentEncode;

constexpr std::string_view kDocuments = "/api/v1/documents";

std::string PathOf(const std::string& id, const std::optional<std::string>& expected_etag) {
  std::string path = fmt::format("{}/{}", kDocuments, PercentEncode(id));
  if (expected_etag) path += "?expected_etag=" + PercentEncode(*expected_etag);
  return path;
}

Result<std::string> ReadAll(const std::string& file) {
  using Bytes = std::istreambuf_iterator<char>;
  if (file == "-") return std::string(Bytes(std::cin), Bytes());
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return Invalid(
        fmt::format("the file '{}' cannot be read: name a file that exists and that "
                    "this user can read, or - for standard input",
                    file));
  }
  return std::string(Bytes(stream), Bytes());
}

// When another version is there than the expected one, the exit code says so; it is not a failure.
Result<ExitCode> SendAndPrint(ApiSource& source, const ApiRequest& request) {
  const auto answer = source.Send(request);
  if (answer) {
    PrintLine(ToText(answer->root()));
    return ExitCode::kOk;
  }
  if (answer.error().code != ErrorCode::kConflict) return answer.error();
  PrintMessage(fmt::format("tidemark: {}", answer.error().message));
  return ExitCode::kNotMet;
}

// ---- Queries ----

std::string QueryPath(const QueryDocumentsOptions& options) {
  std::string path =
      fmt::format("{}?limit=1000&beyond={}", kDocuments, options.cache_only ? "flag" : "search");
  for (const auto& [name, value] :
       {std::pair("from", &options.from), std::pair("to", &options.to),
        std::pair("type", &options.type), std::pair("customer", &options.customer),
        std::pair("status", &options.status)}) {
    if (!value->empty()) path += fmt::format("&{}={}", name, PercentEncode(*value));
  }
  return path;
}

std::vector<Column> DocumentColumns() {
  return {{"ID"}, {"TYPE"}, {"STATUS"}, {"CREATED (UTC)"}, {"CUSTOMERS"}, {"TITLE", 60}};
}

Cells DocumentCells(const Json& json) {
  const auto document = Document::Parse(ToText(json));
  if (!document) return {"", "", "", "", "", document.error().message};
  const documents::DocumentFacts& facts = document->facts();
  std::string customers;
  for (const std::string& customer : facts.customers) {
    customers += fmt::format("{}{}", customers.empty() ? "" : ",", customer);
  }
  return {Printable(document->id()),
          std::string(ToString(facts.kind)),
          std::string(ToString(facts.status)),
          FormatTime(facts.created_at),
          Printable(customers),
          Printable(
              std::visit([](const auto& details) { return details.title; }, document->details()))};
}

bool IsComplete(const Json& page) {
  const auto coverage = page.Find("coverage");
  const auto complete = coverage ? coverage->Find("complete") : std::nullopt;
  return complete && complete->AsBool().value_or(false);
}

}  // namespace

Result<ExitCode> PutDocument(const PutDocumentOptions& options) {
  std::string json = TRY(ReadAll(options.file));
  const Document document = TRY(Document::Parse(std::move(json)).WithContext(options.file));
  const auto source = TRY(OpenDocumentsSource(options.source, Use::kCreate));
  const auto expected = options.is_new ? std::optional<std::string>("") : options.expected_etag;
  return SendAndPrint(
      *source,
      {.method = Method::kPut, .path = PathOf(document.id(), expected), .body = document.json()});
}

Result<ExitCode> DeleteDocument(const DocumentOptions& options) {
  const auto source = TRY(OpenDocumentsSource(options.source, Use::kWrite));
  return SendAndPrint(
      *source, {.method = Method::kDelete, .path = PathOf(options.id, options.expected_etag)});
}

Result<ExitCode> GetDocument(const DocumentOptions& options) {
  const auto source = TRY(OpenDocumentsSource(options.source, Use::kWrite));
  // Printed as it came. Parsing it and writing it again would change its bytes.
  const auto print = [](std::string_view piece) -> Status {
    PrintText(piece);
    return Done{};
  };
  if (TRY(source->Read(PathOf(options.id, std::nullopt), print))) {
    PrintLine("");
    return ExitCode::kOk;
  }
  PrintMessage(fmt::format("tidemark: there is no document '{}'", options.id));
  return ExitCode::kNotMet;
}

Result<ExitCode> QueryDocuments(const QueryDocumentsOptions& options) {
  const auto source = TRY(OpenComparedDocumentsSource(options.source));
  const std::string path = QueryPath(options);
  Printer printer(options.output, DocumentColumns(), DocumentCells);
  bool is_complete = true;
  std::string cursor;
  do {
    const JsonDocument page =
        TRY(source->Need(cursor.empty() ? path : path + "&cursor=" + PercentEncode(cursor)));
    if (const auto found = page.root().Find("documents")) {
      for (const Json document : found->Elements()) printer.Print(document);
    }
    is_complete = is_complete && IsComplete(page.root());
    const auto next = page.root().Find("cursor");
    cursor = next ? next->AsString().value_or("") : "";
  } while (!cursor.empty());
  if (is_complete) return ExitCode::kOk;
  PrintMessage(
      "tidemark: some documents may be missing: the cache does not cover all of that time, or a "
      "store cannot be reached");
  return ExitCode::kNotMet;
}

}  // namespace tidemark::programs
