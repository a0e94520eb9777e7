#include "servers/api/documents_routes.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "servers/api/documents_cache_routes.h"
#include "servers/api/documents_json.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using documents::Context;
using documents::Document;
using documents::Outcome;
using documents::WriteResult;
using http::Response;
using http::RoutedRequest;

const std::string& IdIn(const RoutedRequest& routed) {
  return routed.parameters.find("id")->second;
}

Response WithTag(Response response, const std::string& etag) {
  if (!etag.empty()) response.headers.Set("ETag", fmt::format("\"{}\"", etag));
  return response;
}

Result<Document> ParseDocument(const RoutedRequest& routed) {
  Document document = TRY(Document::Parse(routed.request.body));
  if (document.id() == IdIn(routed)) return document;
  return Invalid(fmt::format("the document's id is '{}', but the path names '{}'", document.id(),
                             IdIn(routed)));
}

class DocumentsRoutes {
 public:
  explicit DocumentsRoutes(DocumentsRoutesParts parts) : parts_(std::move(parts)) {}

  Response Put(const RoutedRequest& routed) const;
  Response Get(const RoutedRequest& routed) const;
  Response Delete(const RoutedRequest& routed) const;
  Response Query(const RoutedRequest& routed) const;

 private:
  Context NewContext() const { return parts_.documents->NewContext(parts_.stop); }

  const DocumentsRoutesParts parts_;
};

Response DocumentsRoutes::Put(const RoutedRequest& routed) const {
  const auto expected = ParseExpected(routed.request);
  if (!expected) return ToProblem(expected.error());
  auto document = ParseDocument(routed);
  if (!document) return ToProblem(document.error());
  const Outcome<WriteResult> written = parts_.documents->Write(
      NewContext(), {.document = *std::move(document), .expected_etag = *expected});
  if (!written) return ToProblem(written.error(), expected->has_value());
  return WithTag(http::Json(200, ToJson(IdIn(routed), *written)), written->etag);
}

Response DocumentsRoutes::Get(const RoutedRequest& routed) const {
  const auto reply = parts_.documents->Get(NewContext(), IdIn(routed));
  if (!reply) return ToProblem(reply.error(), /*is_conditional=*/false);
  return WithTag(http::Json(200, ToJson(*reply)), reply->etag);
}

Response DocumentsRoutes::Delete(const RoutedRequest& routed) const {
  const auto expected = ParseExpected(routed.request);
  if (!expected) return ToProblem(expected.error());
  const Outcome<WriteResult> deleted =
      parts_.documents->Delete(NewContext(), {.id = IdIn(routed), .expected_etag = *expected});
  if (!deleted) return ToProblem(deleted.error(), expected->has_value());
  return http::Json(200, ToJson(IdIn(routed), *deleted));
}

Response DocumentsRoutes::Query(const RoutedRequest& routed) const {
  const auto request =
      ParseRange(routed.request.query, parts_.clock->NowSeconds(), parts_.default_range);
  if (!request) return ToProblem(request.error());
  const auto reply = parts_.documents->Range(NewContext(), request->query, request->beyond);
  if (!reply) return ToProblem(reply.error(), /*is_conditional=*/false);
  return http::Json(200, ToJson(*reply));
}

}  // namespace

void AddDocumentsRoutes(http::Router* router, const DocumentsRoutesParts& parts,
                        TokenFile* tokens) {
  const auto routes = std::make_shared<const DocumentsRoutes>(parts);
  const auto add = [&](http::Method method, std::string pattern,
                       Response (DocumentsRoutes::*work)(const RoutedRequest&) const) {
    const auto handler = [routes, work](const RoutedRequest& routed) {
      return (routes.get()->*work)(routed);
    };
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .run = http::Run::kOnWorker,
                 .handler = tokens == nullptr ? handler : WithToken(tokens, handler)});
  };
  using http::Method;
  add(Method::kPut, "/api/v1/documents/{id}", &DocumentsRoutes::Put);
  add(Method::kGet, "/api/v1/documents/{id}", &DocumentsRoutes::Get);
  add(Method::kDelete, "/api/v1/documents/{id}", &DocumentsRoutes::Delete);
  add(Method::kGet, "/api/v1/documents", &DocumentsRoutes::Query);
  AddDocumentCacheRoutes(router, parts, tokens);
}

}  // namespace tidemark::api
