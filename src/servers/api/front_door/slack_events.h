// POST /slack/events: what Slack's Events API sends, from the raw request to the reply.
//
//   size, signature, window, replay  →  JSON  →  by the kind of request:
//     event_callback     the fast path (fast_path.h), or else the claimed path (claimed_path.h);
//                        of a conversation that was never public, nothing is written
//     url_verification   the challenge is echoed
//     app_rate_limited   the lost minute is counted, and noted in the archive's coverage
//     anything else      acknowledged and logged
//
// The reply waits for the disk. It waits for Slack's Web API only when the gate's table does not
// know a team, user or channel, and then at most for the gate's deadline, which is below the 3 s
// that Slack waits; no worker waits with it. Slack sends again whatever is not acknowledged. So an
// event whose first delivery is still under way is answered with 503: a 200 would lose the event if
// that delivery failed. What the gate refuses is kept in quarantine, checked again, and promoted
// when it passes.
//
// Slack marks a repeated delivery with X-Slack-Retry-Num and X-Slack-Retry-Reason. It is counted by
// its reason, which tells what Slack thought of our last answer, and handled like any other. A body
// with "Content-Transfer-Encoding: base64", as relays such as API gateways send it, is decoded
// first: the signature covers the decoded bytes.
//
// All refusals with the same status, 401 or 403, have the same body and never say why. May be
// called from any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apps/archive/archive.h"
#include "apps/archive/coverage.h"
#include "apps/dedup/deduplicator.h"
#include "apps/gate/gate.h"
#include "apps/gate/quarantine.h"
#include "base/later.h"
#include "base/runtime.h"
#include "base/worker_pool.h"
#include "http/message.h"
#include "http/router.h"
#include "servers/api/front_door/claimed_path.h"
#include "servers/api/front_door/event_planner.h"
#include "servers/api/front_door/fast_path.h"
#include "servers/api/front_door/inbox.h"
#include "tables/tables.h"

namespace tidemark::api {

// All outlive the SlackEvents.
struct SlackEventsParts {
  // Where events are stored: at least one of archive and inbox. The ledger comes with the archive.
  archive::Archive* archive = nullptr;
  archive::Ledger* ledger = nullptr;
  Inbox* inbox = nullptr;
  gate::Gate* gate = nullptr;
  gate::Quarantine* quarantine = nullptr;
  dedup::Deduplicator* dedup = nullptr;
  tables::Tables* tables = nullptr;
  WorkerPool* workers = nullptr;  // For what may block.
};

class SlackEvents {
 public:
  SlackEvents(SlackEventsParts parts, gate::UnknownPolicy unknown, const Runtime& runtime);

  // Reads the tables on the calling thread. Writes, and everything that asks Slack, happen later or
  // on a worker. The request lives until it is answered.
  Later<http::Response> Receive(const http::RoutedRequest& routed);

  // For the quarantine. Recheck asks again whether the event is allowed. Promote stores an event
  // that is, by this verdict; it succeeds also when the event was stored by another delivery in the
  // meantime.
  gate::Verdict Recheck(const slack::EventCallback& callback);
  Status Promote(const slack::EventCallback& callback, std::string_view body,
                 const gate::Verdict& verdict);
  // Of an event that left quarantine unverified: the archive's coverage says that it is missing.
  Status NoteGap(const slack::EventCallback& callback);

 private:
  class Delivery;
  using SharedDelivery = std::shared_ptr<Delivery>;

  struct Counters {
    explicit Counters(Metrics& metrics);
    Counter& Of(EventOutcome outcome);
    Counter& accepted;
    Counter& duplicate;
    Counter& under_way;
    Counter& refused;
    Counter& quarantined;
    Counter& not_public;
    Counter& lost;
    Counter& unavailable;
    Counter& lost_minutes;
    std::map<std::string, Counter*, std::less<>> retries;  // By reason.
  };

  Later<http::Response> Handle(const slack::EventCallback& callback, SharedDelivery delivery);
  Later<http::Response> Handle(const slack::UrlVerification& verification, SharedDelivery delivery);
  Later<http::Response> Handle(const slack::AppRateLimited& limited, SharedDelivery delivery);
  Later<http::Response> Handle(const slack::UnknownEnvelope& envelope, SharedDelivery delivery);

  // Whether the event is of a direct conversation, or of a private channel that the archive never
  // recorded as public.
  Result<bool> IsNeverPublic(const IncomingEvent& event) const;
  http::Response AnswerEvent(EventOutcome outcome, Delivery* delivery);
  http::Response AnswerRateLimited(const slack::AppRateLimited& limited, Delivery* delivery);
  Status NoteLostMinute(const slack::AppRateLimited& limited);
  // Of an event that may be of a private channel: the team lacks something of this minute.
  Status NoteTeamGap(const slack::EventCallback& callback);
  Status AddLostMinute(const std::string& team_id, EpochSeconds minute, std::string reason);
  // The request is signed but malformed. It would not be better the next time.
  http::Response RefuseMalformed(const http::Request& request, const Error& error) const;
  void CountRetry(const slack::EventCallback& callback, const http::Request& request);

  const SlackEventsParts parts_;
  const Runtime runtime_;
  // Few threads: each waits for the disk of the objects, and its event is large. Other events, and
  // other jobs, use other threads.
  WorkerPool object_workers_{{.threads = 4, .max_waiting = 256}};
  const EventPlanner planner_;
  const FastPath fast_path_;
  ClaimedPath claimed_path_;
  Counters counters_;
};

}  // namespace tidemark::api
