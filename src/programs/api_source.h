// Sends API requests for commands: to a running server, or to the same routes in this process, over
// the data folder.
//
//   auto source = TRY(OpenServerSource(options));
//   std::optional<JsonDocument> status = TRY(source->Get("/api/v1/archive/status"));
//
// A source may be used by one thread at a time.
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
  // How long to wait for the answer of a server. Some routes copy or compare everything first.
  std::chrono::seconds patience = std::chrono::seconds(60);
};

class ApiSource {
 public:
  using Take = std::function<Status(std::string_view piece)>;

  virtual ~ApiSource() = default;

  // Returns nullopt if there is nothing at the path (404). Every other refusal is an error with the
  // text of the server.
  Result<std::optional<JsonDocument>> Get(const std::string& path);
  // The same as Get, but 404 is an error. Its text comes from the server, or says that the server
  // has no such route.
  Result<JsonDocument> Need(const std::string& path);
  // The same as Need, for any method.
  Result<JsonDocument> Send(const ApiRequest& request);
  // Posts the body and returns the answer, also one with another status than 200. A refusal of the
  // server itself (problem+json), such as of the token, is an error.
  Result<http::Response> Post(const std::string& path, std::string body);
  // Passes the bytes at the path to `take`, piece by piece. Returns false if there are none (404).
  Result<bool> Read(const std::string& path, const Take& take);

 private:
  // `take` gets the body of a successful answer. If it is null, the body is in the response.
  virtual Result<http::Response> Ask(const ApiRequest& request, const Take& take) = 0;
};

// The URL that --server names, without a slash at its end. If the scheme is missing, fails with
// kInvalid and says what to type.
Result<std::string> ServerUrl(std::string text);

// Uses the server that the options name. Fails with kInvalid if there is no token for it.
Result<std::unique_ptr<ApiSource>> OpenServerSource(const SourceOptions& options);

// Uses the routes that `add` adds, in this process. The source keeps `owner`, which the routes
// need.
std::unique_ptr<ApiSource> MakeRouterSource(std::shared_ptr<void> owner,
                                            const std::function<void(http::Router*)>& add);

// For a folder that cannot be opened: adds what to do if a server uses it.
Error WithServerHint(Error error);

}  // namespace tidemark::programs
