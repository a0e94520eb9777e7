// Where commands get their answers: from the API of a running server, or, without one, from the
// same routes run in this process over the data folder.
//
//   auto source = TRY(OpenServerSource(options));
//   std::optional<JsonDocument> status = TRY(source->Get("/api/v1/archive/status"));
//
// One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "http/message.h"
#include "http/router.h"
#include "programs/data_folder.h"

namespace tidemark::programs {

struct SourceOptions {
  FolderOptions folder;
  std::optional<std::string> server = std::nullopt;      // --server
  std::optional<std::string> token_file = std::nullopt;  // --token-file
};

struct ApiRequest {
  http::Method method = http::Method::kGet;
  std::string path;  // With its query, if any.
  std::string body = {};
  // For the answer of a server: some of them copy or compare everything first.
  std::chrono::seconds patience = std::chrono::seconds(60);
};

class ApiSource {
 public:
  using Take = std::function<Status(std::string_view piece)>;

  virtual ~ApiSource() = default;

  // nullopt when there is nothing at the path (404). Other refusals are errors with the server's
  // own words.
  Result<std::optional<JsonDocument>> Get(const std::string& path);
  // As Get, for what must be there.
  Result<JsonDocument> Need(const std::string& path);
  // Likewise, for what changes something.
  Result<JsonDocument> Send(const ApiRequest& request);
  // The bytes at the path, piece by piece; false when there are none.
  Result<bool> Read(const std::string& path, const Take& take);

 private:
  Result<std::optional<JsonDocument>> Answer(const ApiRequest& request);
  // `take` gets the body of a success; without one it is in the response.
  virtual Result<http::Response> Ask(const ApiRequest& request, const Take& take) = 0;
};

// The server that the options name. kInvalid without a token for it.
Result<std::unique_ptr<ApiSource>> OpenServerSource(const SourceOptions& options);

// The routes that `add` adds, in this process. `owner` is what they need, and lives as long.
std::unique_ptr<ApiSource> MakeRouterSource(std::shared_ptr<void> owner,
                                            const std::function<void(http::Router*)>& add);

// Of a folder that cannot be opened: adds what to do when it is a server that has it.
Error WithServerHint(Error error);

}  // namespace tidemark::programs
