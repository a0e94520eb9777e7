// POST /slack/events: what Slack's Events API sends, from the raw request to the reply.
//
//   size, signature, window, replay → JSON → existence, from what is stored →
//   one transaction (event into the archive and the inbox, its id marked as handled), synced → 200
//
// An event whose team, user and channel are not known yet, or that ends one of them, goes the
// longer way: claim of the event id → generations → existence, from Slack → one transaction (event
// stored, claim completed).
//
// The reply waits for the disk, and for Slack's Web API only when the cache does not know a team,
// user or channel; then for the gate's deadline at most, below the 3 s that Slack waits. What is
// not acknowledged comes again: an event whose first delivery is still under way is answered with
// 503, so that it is not lost should that one fail. What the gate refuses is kept in quarantine,
// checked again, and promoted when it passes.
//
// A delivery that is not the first says so in X-Slack-Retry-Num and X-Slack-Retry-Reason; it is
// counted by its reason, which tells what Slack thought of our last answer, and handled like any
// other. A body under "Content-Transfer-Encoding: base64", as relays of functions send it, is
// decoded before anything else: the signature is of the decoded bytes.
//
// Refusals have one body each, 401 and 403, and never say why. May be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/archive/archive.h"
#include "apps/archive/coverage.h"
#include "apps/dedup/deduplicator.h"
#include "apps/gate/gate.h"
#include "apps/gate/quarantine.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "http/message.h"
#include "http/router.h"
#include "servers/api/inbox.h"
#include "tables/tables.h"

namespace tidemark::api {

// All outlive the SlackEvents.
struct SlackEventsParts {
  // Where accepted events go: at least one. The ledger comes with the archive.
  archive::Archive* archive = nullptr;
  archive::Ledger* ledger = nullptr;
  Inbox* inbox = nullptr;
  gate::Gate* gate = nullptr;
  gate::Quarantine* quarantine = nullptr;
  dedup::Deduplicator* dedup = nullptr;
  tables::Tables* tables = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class SlackEvents {
 public:
  SlackEvents(SlackEventsParts parts, gate::UnknownPolicy unknown);

  // Takes the short way without waiting for the disk; `finish` gets the response, or the long way
  // as what is left to do.
  void Receive(const std::shared_ptr<const http::RoutedRequest>& routed, http::Finish finish);

  // Takes an event out of quarantine's hands, as if it had just been allowed. An event that was
  // accepted meanwhile is a success too.
  Status Promote(const slack::EventCallback& callback, std::string_view body);

  // What quarantine asks before it promotes.
  gate::Verdict Recheck(const slack::EventCallback& callback);

 private:
  // Where an event ended up.
  enum class Outcome {
    kAccepted,
    kDuplicate,
    kUnderWay,     // Another delivery of it is being handled.
    kRefused,      // By the gate; in quarantine.
    kQuarantined,  // Likewise, and acknowledged.
    kUnavailable,  // Nothing is known to have been stored.
  };
  struct Stored {
    dedup::Effect effect;
    std::optional<archive::Outcome> archived;
  };
  // A signed request with what it says.
  struct Delivery {
    std::shared_ptr<const http::RoutedRequest> routed;
    std::optional<http::Request> decoded;  // In its place, when it came encoded.
    std::string nonce;  // By which its mark is known, should the reply to it be lost.
    gate::Authentication authentication = {};
    slack::Envelope envelope = {};

    const http::Request& request() const { return decoded ? *decoded : routed->request; }
  };
  struct Counters {
    explicit Counters(Metrics& metrics);
    Counter& Of(Outcome outcome);
    Counter& accepted;
    Counter& duplicate;
    Counter& under_way;
    Counter& refused;
    Counter& quarantined;
    Counter& unavailable;
    Counter& lost_minutes;
    std::map<std::string, Counter*, std::less<>> retries;  // By reason.
  };

  // Forgets a delivery when it goes, unless that was acknowledged.
  class Unacknowledged;

  // Tries the short way, once.
  void Begin(const std::shared_ptr<const Delivery>& delivery, http::Finish finish);
  // What the short way would write; nullopt when it cannot be taken.
  std::optional<Stored> PlanRecalled(const std::string& key, const slack::EventCallback& callback,
                                     std::string_view body);

  // The rest may block for as long as the disk and the gate take.
  http::Rest RestOf(std::shared_ptr<const Delivery> delivery,
                    std::shared_ptr<Unacknowledged> unacknowledged);
  http::Response Answer(const Delivery& delivery);
  http::Response Answer(const slack::EventCallback& callback, const Delivery& delivery);
  http::Response Answer(const slack::UrlVerification& verification, const Delivery& delivery);
  http::Response Answer(const slack::AppRateLimited& limited, const Delivery& delivery);
  http::Response Answer(const slack::UnknownEnvelope& envelope, const Delivery& delivery);

  Status NoteLoss(const slack::AppRateLimited& limited);
  static Outcome WithoutClaim(dedup::ClaimOutcome outcome);
  void CountRetry(const slack::EventCallback& callback, const http::Request& request);
  // Signed, but nothing that can be handled: it would be no better the next time.
  http::Response NoEvent(const http::Request& request, const Error& error);

  static dedup::ClaimRequest ClaimOf(std::string key, const slack::EventCallback& callback,
                                     const Delivery& delivery);
  Outcome Handle(const std::string& key, const slack::EventCallback& callback,
                 const Delivery& delivery);
  // The short way, as often as it takes: the gate has nothing to ask.
  Outcome HandleRecalled(const std::string& key, const slack::EventCallback& callback,
                         const Delivery& delivery);
  Outcome HandleClaimed(const slack::EventCallback& callback, const http::Request& request,
                        const dedup::Claim& claim);
  Outcome Refuse(const slack::EventCallback& callback, const http::Request& request,
                 const dedup::Claim& claim, const gate::Verdict& verdict);
  Outcome Accept(const slack::EventCallback& callback, std::string_view body,
                 const dedup::Claim& claim);
  // One try; nullopt when somebody else wrote the rows concerned meanwhile.
  std::optional<Outcome> TryAccept(const slack::EventCallback& callback, std::string_view body,
                                   const dedup::Claim& claim);
  Outcome AcceptLocally(const slack::EventCallback& callback, const dedup::Claim& claim,
                        const Stored& stored);
  // The writes that store an event, and what they mean to the archive.
  Result<Stored> Plan(const std::string& key, const slack::EventCallback& callback,
                      std::string_view body);
  void CountStored(const std::optional<archive::Outcome>& archived);
  Outcome Unavailable(const slack::EventCallback& callback, std::string_view step,
                      const Error& error);

  const SlackEventsParts parts_;
  const gate::UnknownPolicy unknown_;
  Counters counters_;
};

}  // namespace tidemark::api
