// The Service is everything behind one address: the front door for Slack, the API, and the work
// that goes on in the background. It joins the apps, which know nothing of each other.
//
//   auto service = TRY(Service::Start(TRY(ReadOptions(settings)), context));
//   ...
//   service->Stop(std::chrono::seconds(10));
//
// Start makes the tables that are missing. Background work (quarantine, the inbox's consumers)
// runs on a thread of its own. Start, Stop and ReloadCertificate are for one thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "servers/api/service_options.h"
#include "tables/tables.h"

namespace tidemark::api {

// What the service uses and does not own; all of it outlives the service.
struct ServiceContext {
  tables::Tables* tables = nullptr;
  http::Client* client = nullptr;
  const Clock* clock = nullptr;
  Random* random = nullptr;
  Sleeper* sleeper = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class Service {
 public:
  static Result<std::unique_ptr<Service>> Start(ServiceOptions options,
                                                const ServiceContext& context);
  // As Stop with no patience.
  ~Service();

  const std::string& address() const;
  // "POST /slack/events" and all the others, sorted.
  std::vector<std::string> Routes() const;

  // Requests under way may take this long; what they acknowledged is on disk.
  void Stop(std::chrono::milliseconds patience);
  Status ReloadCertificate();

  // One round of what the background thread does, when there is none: hands out work from the
  // inbox, and looks again at what is in quarantine.
  Status WorkOnce();

 private:
  class State;
  explicit Service(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::api
