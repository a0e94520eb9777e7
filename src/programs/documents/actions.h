// `tidemark documents put`, `get`, `delete` and `query`: in the data folder, or at a server.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct PutDocumentOptions {
  SourceOptions source;
  std::string file = {};  // "-" for standard input.
  std::optional<std::string> expected_etag = std::nullopt;
  bool is_new = false;
};

struct DocumentOptions {
  SourceOptions source;
  std::string id = {};
  std::optional<std::string> expected_etag = std::nullopt;
};

struct QueryDocumentsOptions {
  SourceOptions source;
  OutputOptions output;
  // Parameters of the API; empty: not sent.
  std::string from = {};
  std::string to = {};
  std::string type = {};
  std::string customer = {};
  std::string status = {};
  bool cache_only = false;
};

// Both print the reply. kNotMet when another version is there than the expected one.
Result<ExitCode> PutDocument(const PutDocumentOptions& options);
Result<ExitCode> DeleteDocument(const DocumentOptions& options);
// Prints the document and its source. kNotMet when there is no such document.
Result<ExitCode> GetDocument(const DocumentOptions& options);
// Prints all documents that match. kNotMet, with a message, when some may be missing.
Result<ExitCode> QueryDocuments(const QueryDocumentsOptions& options);

}  // namespace tidemark::programs
