#include "servers/api/documents/routes.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "servers/api/documents/cache_routes.h"
#include "servers/api/documents/json.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using documents::Context;
using documents::Document;
using documents::WriteResult;
using http::Response;
using http::RoutedRequest;

const std::string& IdIn(const RoutedRequest& routed) {
  return routed.parameters.find("id")->second;
}

// 412 when the caller named a version, as HTTP says for If-Match.
int ConflictStatus(const std::optional<std::string>& expected) { return expected ? 412 : 409; }

Response WithTag(Response response, const std::string& etag) {
  if (!etag.empty()) response.headers.Set("ETag", fmt::format("\"{}\"", etag));
  return response;
}

Result<Document> ParseDocument(const RoutedRequest& routed) {
  Document document = TRY(Document::Parse(routed.request.body));
  if (document.id() == IdIn(routed)) return document;
  return Invalid(
      fmt::format("the document's id is '{}', but the path names '{}': correct one of them",
                  document.id(), IdIn(routed)));
}

// The token is checked on a shared worker, and the work is done on a worker of documents.
void AddRoute(http::Router* router, http::Route route, TokenFile* tokens,
              http::RouteHandler handler) {
  route.run = http::Run::kOnWorker;
  route.handler = tokens == nullptr ? std::move(handler) : WithToken(tokens, std::move(handler));
  router->Add(std::move(route));
}

class DocumentsRoutes {
 public:
  explicit DocumentsRoutes(DocumentsRoutesParts parts) : parts_(std::move(parts)) {}

  Response Put(const RoutedRequest& routed) const;
  Later<Response> Get(const RoutedRequest& routed) const;
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
  const Result<WriteResult> written = parts_.documents->Write(
      NewContext(), {.document = *std::move(document), .expected_etag = *expected});
  if (!written) return ToDocumentProblem(written.error(), ConflictStatus(*expected));
  return WithTag(http::Json(200, ToJson(IdIn(routed), *written)), written->etag);
}

Later<Response> DocumentsRoutes::Get(const RoutedRequest& routed) const {
  const auto fill = [workers = parts_.workers](std::function<void()> work) {
    return workers->Fill(std::move(work));
  };
  return parts_.documents->GetLater(NewContext(), IdIn(routed), fill)
      .Then([id = IdIn(routed)](const Result<std::optional<documents::ReadReply>>& reply) {
        if (!reply) return ToDocumentProblem(reply.error());
        if (!*reply) {
          return ToDocumentProblem(
              {ErrorCode::kNotFound, fmt::format("there is no document '{}'", id)});
        }
        return WithTag(http::Json(200, ToJson(**reply)), (*reply)->etag);
      });
}

Response DocumentsRoutes::Delete(const RoutedRequest& routed) const {
  const auto expected = ParseExpected(routed.request);
  if (!expected) return ToProblem(expected.error());
  const Result<WriteResult> deleted =
      parts_.documents->Delete(NewContext(), {.id = IdIn(routed), .expected_etag = *expected});
  if (!deleted) return ToDocumentProblem(deleted.error(), ConflictStatus(*expected));
  return http::Json(200, ToJson(IdIn(routed), *deleted));
}

Response DocumentsRoutes::Query(const RoutedRequest& routed) const {
  const auto request =
      ParseRange(routed.request.query, parts_.clock->NowSeconds(), parts_.default_range);
  if (!request) return ToProblem(request.error());
  const auto reply = parts_.documents->Range(NewContext(), request->query, request->beyond);
  if (!reply) return ToDocumentProblem(reply.error());
  return http::Json(200, ToJson(*reply));
}

}  // namespace

void AddDocumentsRoutes(http::Router* router, const DocumentsRoutesParts& parts,
                        TokenFile* tokens) {
  const auto routes = std::make_shared<const DocumentsRoutes>(parts);
  using Handle = Response (DocumentsRoutes::*)(const RoutedRequest&) const;
  // The router keeps the request until it is answered.
  const auto bind = [&](auto handle) {
    return
        [routes, handle](const RoutedRequest& routed) { return (routes.get()->*handle)(routed); };
  };
  const auto write = [&](http::Method method, Handle handle) {
    const auto handler = bind(handle);
    AddRoute(router, {.method = method, .pattern = "/api/v1/documents/{id}"}, tokens,
             [workers = parts.workers, handler](const RoutedRequest& routed) {
               return workers->Write(IdIn(routed), [&routed, handler] { return handler(routed); });
             });
  };
  write(http::Method::kPut, &DocumentsRoutes::Put);
  write(http::Method::kDelete, &DocumentsRoutes::Delete);
  AddRoute(
      router, {.method = http::Method::kGet, .pattern = "/api/v1/documents/{id}"}, tokens,
      [workers = parts.workers, get = bind(&DocumentsRoutes::Get)](const RoutedRequest& routed) {
        return workers->Read([&routed, get] { return get(routed); });
      });
  AddRoute(router, {.method = http::Method::kGet, .pattern = "/api/v1/documents"}, tokens,
           [workers = parts.workers,
            query = bind(&DocumentsRoutes::Query)](const RoutedRequest& routed) {
             return workers->Find([&routed, query] { return query(routed); });
           });
  AddDocumentCacheRoutes(router, parts, tokens);
}

}  // namespace tidemark::api
