// Where the archive's reading commands get their answers: from the API of a running server, or,
// without one, from the same routes run in this process over the data folder.
//
//   auto source = TRY(ArchiveSource::Open(options));
//   std::optional<JsonDocument> status = TRY(source->Get("/api/v1/archive/status"));
//
// One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "http/message.h"
#include "programs/data_folder.h"

namespace tidemark::programs {

struct SourceOptions {
  FolderOptions folder;
  std::optional<std::string> server = std::nullopt;      // --server
  std::optional<std::string> token_file = std::nullopt;  // --token-file
  std::optional<std::string> team = std::nullopt;        // --team
};

class ArchiveSource {
 public:
  using Take = std::function<Status(std::string_view piece)>;

  static Result<std::unique_ptr<ArchiveSource>> Open(const SourceOptions& options);
  virtual ~ArchiveSource() = default;

  // nullopt when there is nothing at the path (404). Other refusals are errors with the server's
  // own words.
  Result<std::optional<JsonDocument>> Get(const std::string& path);
  // As Get, for what must be there.
  Result<JsonDocument> Need(const std::string& path);
  // The bytes at the path, piece by piece; false when there are none.
  Result<bool> Read(const std::string& path, const Take& take);

 private:
  // `take` gets the body of a success; without one it is in the response.
  virtual Result<http::Response> Ask(const std::string& path, const Take& take) = 0;
};

// The team that --team names, or else the only one. "/api/v1/teams/T0123"
Result<std::string> TeamPath(ArchiveSource& source, const SourceOptions& options);
// Of a channel by its id or its name. kInvalid when several have the name: the message has their
// ids.
Result<std::string> ChannelPath(ArchiveSource& source, const SourceOptions& options,
                                const std::string& channel);

}  // namespace tidemark::programs
