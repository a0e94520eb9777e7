// The Service is everything behind one address: the front door for Slack, the API, and the work
// that goes on in the background. It joins the apps, which know nothing of each other.
//
//   auto service = TRY(Service::Start(TRY(ReadOptions(settings)), context));
//   ...
//   service->Stop(std::chrono::seconds(10));
//
// Start makes the tables that are missing. Background work (quarantine, the inbox's consumers, the
// archive's processors, what writers of documents left) runs on threads of its own. Start, Stop and
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
  // As Stop with no patience.
  ~Service();

  const std::string& address() const;
  // "POST /slack/events" and all the others, sorted.
  std::vector<std::string> Routes() const;

  // Requests under way may take this long; what they acknowledged is on disk.
  void Stop(std::chrono::milliseconds patience);
  Status ReloadCertificate();

  // One round of what the background threads do, when there are none: hands out work from the
  // inbox, does what hangs on the archive's stream, settles what writers of documents left, samples
  // documents, and looks again at what is in quarantine.
  Status WorkOnce();

 private:
  class State;
  explicit Service(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::api
