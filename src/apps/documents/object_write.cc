#include "apps/documents/object_write.h"

#include <utility>

#include <fmt/format.h>

#include "base/retry.h"

namespace tidemark::documents {

namespace {

constexpr std::chrono::seconds kEndingTime{3};

}  // namespace

Context EndingContext(const Context& context, const Clock& clock) {
  if (!context.stop.stop_requested() && context.deadline.Remaining() >= kEndingTime) {
    return context;
  }
  return {.deadline = Deadline::After(clock, kEndingTime), .tally = context.tally};
}

ObjectWriteResult ObjectWrite::Run(const Context& context) {
  Backoff backoff(kNetworkRetries, nullptr);
  while (true) {
    Outcome<PutResult> sent = Send(context);
    if (!sent) return GiveUp(std::move(sent).error());
    if (sent->outcome == PutOutcome::kWritten) return {.etag = std::move(sent->etag)};
    in_doubt_ |= sent->outcome == PutOutcome::kUnknown;
    Outcome<std::optional<ObjectState>> object =
        store_.Head(EndingContext(context, clock_), what_.id);
    if (!object) {
      in_doubt_ = true;
      return GiveUp(std::move(object).error());
    }
    if (auto judged = Judge(*object)) return *std::move(judged);
    // Sending the same again is harmless: whichever comes second is refused, and recognised.
    const auto wait = backoff.Next(context.deadline);
    if (!wait) return GiveUp(Conflict("the object store gave no answer"));
    if (context.tally) ++context.tally->retries;
    pauser_.Pause(*wait, context.stop);
  }
}

Outcome<PutResult> ObjectWrite::Send(const Context& context) {
  if (what_.json) {
    return store_.Put(
        context,
        {.id = what_.id, .json = *what_.json, .base_etag = what_.base_etag, .txn = what_.txn});
  }
  return PutResult{.outcome = TRY(store_.Delete(context, what_.id, what_.base_etag.value_or("")))};
}

std::optional<ObjectWriteResult> ObjectWrite::Judge(
    const std::optional<ObjectState>& object) const {
  const bool is_ours = what_.json ? object && object->txn == what_.txn : !object;
  if (is_ours) return ObjectWriteResult{.etag = object ? object->etag : ""};
  const bool is_base = object ? object->etag == what_.base_etag : !what_.base_etag;
  if (is_base) return std::nullopt;
  if (!in_doubt_) return ObjectWriteResult{.landing = Landing::kRefused};
  return ObjectWriteResult{
      .landing = Landing::kOvertaken,
      .error = Unknown(Conflict("somebody else has written the object since"))};
}

ObjectWriteResult ObjectWrite::GiveUp(CacheError error) const {
  if (!in_doubt_) return {.landing = Landing::kFailed, .error = std::move(error)};
  return {.landing = Landing::kUndecided, .error = Unknown(std::move(error))};
}

CacheError ObjectWrite::Unknown(CacheError error) const {
  return {.type = CacheErrorType::kNetwork,
          .message = fmt::format("it is not known whether the object of '{}' was {}: {}; read it, "
                                 "or write the same again",
                                 what_.id, what_.json ? "written" : "deleted", error.message),
          .causes = std::move(error.causes),
          .retryable = true};
}

}  // namespace tidemark::documents
