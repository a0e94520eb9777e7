// The Service is everything behind one address: the front door for Slack, the API, and the
// background work. It connects the apps, which do not know each other.
//
//   auto service = TRY(Service::Start(TRY(ReadOptions(settings)), context));
//   ...
//   service->Stop(std::chrono::seconds(10));
//
// Start creates the tables that are missing. Background work (quarantine, the inbox's consumer, the
// archive's processors, unfinished writes of documents) runs on threads of its own. Start, Stop and
// ReloadCertificate are for one thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "servers/api/service_context.h"
#include "servers/api/service_options.h"

namespace tidemark::api {

class Service {
 public:
  static Result<std::unique_ptr<Service>> Start(ServiceOptions options,
                                                const ServiceContext& context);
  // Like Stop with a patience of 0.
  ~Service();

  const std::string& address() const;
  // "POST /slack/events" and all the others, sorted.
  std::vector<std::string> Routes() const;

  // Waits this long for running requests, then drops them. What was acknowledged is on disk.
  void Stop(std::chrono::milliseconds patience);
  Status ReloadCertificate();

  // One round of all background work: posts the work in the inbox, processes the archive's stream,
  // finishes interrupted writes of documents, samples documents, reads a page of each of Slack's
  // lists, and rechecks the quarantine. For
  // tests, which start the service without background threads and decide when this work happens.
  Status WorkOnce();

 private:
  class State;
  explicit Service(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::api
