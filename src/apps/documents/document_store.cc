#include "apps/documents/document_store.h"

#include <utility>

#include <fmt/format.h>

#include "apps/documents/converter.h"
#include "apps/documents/limits.h"

namespace tidemark::documents {

namespace {

ObjectState StateOf(const objects::ObjectInfo& info) {
  const auto txn = info.metadata.find(std::string(kTxnMetadata));
  return {.etag = info.etag,
          .txn = txn == info.metadata.end() ? std::string() : txn->second,
          .modified = info.modified};
}

// An error as an answer of its own: whoever wrote must look, and may not just try again.
template <typename Reply>
Result<std::optional<Reply>> UnknownAsAbsent(Result<Reply> reply) {
  if (reply) return std::optional(*std::move(reply));
  if (reply.error().code == ErrorCode::kUnknown) return std::optional<Reply>();
  return std::move(reply).error();
}

}  // namespace

DocumentStore::DocumentStore(const DocumentsOptions& options, objects::Objects* objects,
                             const Retrier* retrier)
    : options_(options), objects_(*objects), retrier_(*retrier) {}

Outcome<std::optional<ObjectState>> DocumentStore::Head(const Context& context,
                                                        const std::string& id) {
  const std::string key = ObjectKey(options_, id);
  const auto info = TRY(retrier_.Run<std::optional<objects::ObjectInfo>>(
      context, Store::kObjects, "looking at an object", [&] { return objects_.Head(key); }));
  return info ? std::optional(StateOf(*info)) : std::nullopt;
}

Outcome<std::optional<StoredDocument>> DocumentStore::Read(const Context& context,
                                                           const std::string& id) {
  const std::string key = ObjectKey(options_, id);
  return retrier_.Run<std::optional<StoredDocument>>(context, Store::kObjects, "reading an object",
                                                     [&] { return ReadOnce(key); });
}

Result<std::optional<StoredDocument>> DocumentStore::ReadOnce(const std::string& key) {
  const auto object = TRY(objects_.Open(key));
  if (!object) return std::optional<StoredDocument>();
  const objects::ObjectInfo& info = object->info();
  StoredDocument stored{.json = {}, .state = StateOf(info)};
  // What is too large is told by its empty text, which is no document; it is not read.
  if (info.size <= kMaxDocumentBytes) {
    stored.json = TRY(object->Read(0, static_cast<size_t>(info.size)));
  }
  return std::optional(std::move(stored));
}

Outcome<PutResult> DocumentStore::Put(const Context& context, const ObjectPut& put) {
  const objects::PutRequest request{.key = ObjectKey(options_, put.id),
                                    .bytes = put.json,
                                    .content_type = "application/json",
                                    .metadata = {{std::string(kTxnMetadata), put.txn}},
                                    .if_absent = !put.base_etag,
                                    .if_match = put.base_etag};
  const auto reply = TRY(retrier_.Run<std::optional<objects::PutReply>>(
      context, Store::kObjects, "writing an object",
      [&] { return UnknownAsAbsent(objects_.Put(request)); }));
  if (!reply) return PutResult{.outcome = PutOutcome::kUnknown};
  if (!reply->applied) return PutResult{.outcome = PutOutcome::kRefused};
  return PutResult{.etag = reply->etag};
}

Outcome<PutOutcome> DocumentStore::Delete(const Context& context, const std::string& id,
                                          const std::string& base_etag) {
  const objects::DeleteRequest request{.key = ObjectKey(options_, id), .if_match = base_etag};
  const auto reply = TRY(retrier_.Run<std::optional<objects::DeleteReply>>(
      context, Store::kObjects, "deleting an object",
      [&] { return UnknownAsAbsent(objects_.Delete(request)); }));
  if (!reply) return PutOutcome::kUnknown;
  return reply->applied ? PutOutcome::kWritten : PutOutcome::kRefused;
}

Outcome<ObjectPage> DocumentStore::List(const Context& context, const std::string& after,
                                        size_t limit) {
  const objects::ListRequest request{.prefix = options_.prefix, .after = after, .limit = limit};
  const auto reply = TRY(retrier_.Run<objects::ListReply>(
      context, Store::kObjects, "listing objects", [&] { return objects_.List(request); }));
  ObjectPage page;
  for (const objects::ObjectInfo& info : reply.objects) {
    if (auto id = IdOfKey(options_, info.key)) {
      page.objects.push_back({.id = *std::move(id), .state = StateOf(info)});
    }
  }
  if (reply.more && !reply.objects.empty()) page.last = reply.objects.back().key;
  return page;
}

}  // namespace tidemark::documents
