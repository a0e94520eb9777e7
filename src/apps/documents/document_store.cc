#include "apps/documents/document_store.h"

#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"
#include "base/retry.h"

namespace tidemark::documents {

namespace {

constexpr std::string_view kObjectSuffix = ".json";

ObjectState StateOf(const objects::ObjectInfo& info) {
  const auto txn = info.metadata.find(std::string(kTxnMetadata));
  return {.etag = info.etag,
          .txn = txn == info.metadata.end() ? std::string() : txn->second,
          .modified = info.modified};
}

// Makes kUnknown a value. The Retrier would send the write again at once; a writer must look at the
// object first.
template <typename Reply>
Result<std::optional<Reply>> UnknownAsNullopt(Result<Reply> reply) {
  if (reply) return std::optional(*std::move(reply));
  if (reply.error().code == ErrorCode::kUnknown) return std::optional<Reply>();
  return std::move(reply).error();
}

}  // namespace

std::string ObjectKey(const DocumentsOptions& options, std::string_view id) {
  return fmt::format("{}{}{}", options.prefix, id, kObjectSuffix);
}

std::optional<std::string> IdOfKey(const DocumentsOptions& options, std::string_view key) {
  if (!key.starts_with(options.prefix)) return std::nullopt;
  key.remove_prefix(options.prefix.size());
  if (!key.ends_with(kObjectSuffix)) return std::nullopt;
  key.remove_suffix(kObjectSuffix.size());
  if (!ValidateId(key)) return std::nullopt;
  return std::string(key);
}

Result<Document> ParseObject(const std::string& id, StoredDocument stored) {
  if (stored.size_bytes > kMaxDocumentBytes) {
    return Invalid(fmt::format("it has {} bytes, and a document has at most {}", stored.size_bytes,
                               kMaxDocumentBytes));
  }
  Document document = TRY(Document::Parse(std::move(stored.json)));
  if (document.id() == id) return document;
  return Invalid(fmt::format("it is the document '{}'", document.id()));
}

// One write of an object, from the first attempt until its outcome is known.
class DocumentStore::Writing {
 public:
  Writing(DocumentStore& store, const ObjectWrite& write) : store_(store), write_(write) {}

  ObjectWriteReply Run(const Context& context) {
    Backoff backoff(kNetworkRetries, nullptr);
    while (true) {
      Result<Sent> sent = Send(context);
      if (!sent) return GiveUp(sent.error());
      if (sent->reply == Reply::kWritten) return {.etag = std::move(sent->etag)};
      in_doubt_ |= sent->reply == Reply::kLost;
      // A refusal may come from our own earlier attempt whose reply was lost. The object tells.
      const auto object = store_.Head(ExtendToFinish(context, store_.runtime_.clock), write_.id);
      if (!object) {
        in_doubt_ = true;
        return GiveUp(object.error());
      }
      if (auto judged = Judge(*object)) return *std::move(judged);
      // Sending it again is harmless: a second copy is refused, and recognised by its tag.
      const auto wait = backoff.Next(context.deadline);
      if (!wait) return GiveUp({ErrorCode::kConflict, "the object store gave no answer"});
      store_.retrier_.PauseBeforeRetry(context, *wait);
    }
  }

 private:
  enum class Reply { kWritten, kRefused, kLost };
  struct Sent {
    Reply reply = Reply::kWritten;
    std::string etag = {};
  };

  Result<Sent> Send(const Context& context) { return write_.json ? Put(context) : Delete(context); }

  Result<Sent> Put(const Context& context) {
    const objects::PutRequest request{.key = ObjectKey(store_.options_, write_.id),
                                      .bytes = *write_.json,
                                      .content_type = "application/json",
                                      .metadata = {{std::string(kTxnMetadata), write_.txn}},
                                      .if_absent = !write_.base_etag,
                                      .if_match = write_.base_etag};
    const auto reply = TRY(store_.retrier_.Run<std::optional<objects::PutReply>>(
        context, Store::kObjects, "writing an object",
        [&] { return UnknownAsNullopt(store_.objects_.Put(request)); }));
    if (!reply) return Sent{.reply = Reply::kLost};
    if (!reply->applied) return Sent{.reply = Reply::kRefused};
    return Sent{.etag = reply->etag};
  }

  Result<Sent> Delete(const Context& context) {
    const objects::DeleteRequest request{.key = ObjectKey(store_.options_, write_.id),
                                         .if_match = write_.base_etag.value_or("")};
    const auto reply = TRY(store_.retrier_.Run<std::optional<objects::DeleteReply>>(
        context, Store::kObjects, "deleting an object",
        [&] { return UnknownAsNullopt(store_.objects_.Delete(request)); }));
    if (!reply) return Sent{.reply = Reply::kLost};
    return Sent{.reply = reply->applied ? Reply::kWritten : Reply::kRefused};
  }

  // The outcome of the write, judged by the object that is there now. Returns nullopt while that is
  // still the version to be replaced: then the write has not happened yet.
  std::optional<ObjectWriteReply> Judge(const std::optional<ObjectState>& object) const {
    const bool is_ours = write_.json ? object && object->txn == write_.txn : !object;
    if (is_ours) return ObjectWriteReply{.etag = object ? object->etag : ""};
    const bool is_base = object ? object->etag == write_.base_etag : !write_.base_etag;
    if (is_base) return std::nullopt;
    if (!in_doubt_) return ObjectWriteReply{.state = ObjectWriteState::kRefused};
    return ObjectWriteReply{.state = ObjectWriteState::kOvertaken,
                            .error = Unknown("another writer has changed the object since")};
  }

  ObjectWriteReply GiveUp(const Error& error) const {
    if (!in_doubt_) return {.state = ObjectWriteState::kFailed, .error = error};
    return {.state = ObjectWriteState::kUndecided, .error = Unknown(error.message)};
  }

  Error Unknown(std::string_view why) const {
    return {ErrorCode::kUnknown,
            fmt::format("it is not known whether the object of '{}' was {}: {}; read it, or write "
                        "the same again",
                        write_.id, write_.json ? "written" : "deleted", why)};
  }

  DocumentStore& store_;
  const ObjectWrite& write_;
  // A request was sent whose reply never came. It may have been done, or may still be done.
  bool in_doubt_ = false;
};

DocumentStore::DocumentStore(const DocumentsOptions& options, objects::Objects* objects,
                             const Retrier* retrier, const Runtime& runtime)
    : options_(options), objects_(*objects), retrier_(*retrier), runtime_(runtime) {}

Result<std::optional<ObjectState>> DocumentStore::Head(const Context& context,
                                                       const std::string& id) {
  const std::string key = ObjectKey(options_, id);
  const auto info = TRY(retrier_.Run<std::optional<objects::ObjectInfo>>(
      context, Store::kObjects, "looking at an object", [&] { return objects_.Head(key); }));
  return info ? std::optional(StateOf(*info)) : std::nullopt;
}

Result<std::optional<StoredDocument>> DocumentStore::Read(const Context& context,
                                                          const std::string& id) {
  const std::string key = ObjectKey(options_, id);
  return retrier_.Run<std::optional<StoredDocument>>(context, Store::kObjects, "reading an object",
                                                     [&] { return ReadOnce(key); });
}

Result<std::optional<StoredDocument>> DocumentStore::ReadOnce(const std::string& key) {
  const auto object = TRY(objects_.Open(key));
  if (!object) return std::optional<StoredDocument>();
  const objects::ObjectInfo& info = object->info();
  StoredDocument stored{.json = {}, .state = StateOf(info), .size_bytes = info.size};
  if (info.size <= kMaxDocumentBytes) {
    stored.json = TRY(object->Read(0, static_cast<size_t>(info.size)));
  }
  return std::optional(std::move(stored));
}

ObjectWriteReply DocumentStore::Write(const Context& context, const ObjectWrite& write) {
  return Writing(*this, write).Run(context);
}

Result<ObjectPage> DocumentStore::List(const Context& context, const std::string& after,
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
