// The Door answers requests of DynamoDB's protocol: it finds out who the caller is, decodes the
// request, makes the call on the tables, and encodes the reply.
//
//   POST / with X-Amz-Target: DynamoDB_20120810.GetItem
//
// As on AWS, a request is checked in this order: content type, JSON, operation, signature, rights,
// parameters. Any path is accepted. The signature of a large or packed body is checked first.
//
// A small request is handled on the loop that received it: the call is submitted, and the reply is
// sent when the answer comes. A large or packed body, and a call that blocks, go to a worker. The
// large and packed bodies that are unpacked, parsed and answered at once have a limit together,
// because each takes up to 15 times its unpacked size in memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "aws/claim.h"
#include "base/later.h"
#include "base/places.h"
#include "base/runtime.h"
#include "base/worker_pool.h"
#include "http/limits.h"
#include "http/server.h"
#include "servers/dynamodb/access_keys.h"
#include "servers/dynamodb/rights.h"
#include "tables/tables.h"
#include "wire/calls.h"

namespace tidemark::dynamodb {

// DynamoDB's limit for the body of a request, packed and unpacked.
inline constexpr size_t kMaxBodyBytes = size_t{16} << 20;

struct DoorOptions {
  std::string region = "us-east-1";
  // Any signature is accepted, whoever made it. For tests and for work on one machine.
  bool open = false;
  // In open mode: the names that Host may have besides those of loopback. A web page can make a
  // browser send requests to this machine under a name of its own, but not under these.
  std::vector<std::string> hosts = {};
  // Origins whose pages may read the replies; "*": all. Empty: none, and browsers ask in vain.
  std::vector<std::string> cors = {};
  // Errors of validation have the words that AWS used until 2026, and not today's.
  bool older_wording = false;
  OwnTables own_tables = {};
  // A read that has not begun this long after its request was admitted is not made: the caller gets
  // a ServiceUnavailable, and tries again.
  std::chrono::milliseconds request_limit = std::chrono::seconds(30);
  // The bytes of large bodies that are worked on at once, and the requests that wait. Others get
  // 503. A packed body counts as one of the largest.
  PlacesOptions large_bodies = {.capacity = 4 * kMaxBodyBytes,
                                .max_waiting = http::kMaxWaitingWork};
};

class Door final : public http::Handler {
 public:
  // All outlive the door. The keys are null in open mode.
  Door(DoorOptions options, tables::Tables* tables, AccessKeys* keys, WorkerPool* workers,
       const Runtime& runtime);
  // Waits until every request is answered.
  ~Door() override;

  void Handle(http::Request request, http::Reply reply) override;

 private:
  class Unanswered;
  struct Visit;
  using VisitPtr = std::shared_ptr<Visit>;

  Later<http::Response> Answer(const VisitPtr& visit);
  Later<http::Response> AnswerPost(const VisitPtr& visit);
  Later<http::Response> Read(const VisitPtr& visit);
  Later<http::Response> Authenticate(const VisitPtr& visit);
  Later<http::Response> AuthenticateWithKey(const VisitPtr& visit, const aws::Claim& claim);
  Later<http::Response> CheckSignature(const VisitPtr& visit, const aws::Claim& claim,
                                       const aws::Scope& scope, const AccessKeyPtr& key);
  Later<http::Response> Admit(const VisitPtr& visit);
  Later<http::Response> Call(const VisitPtr& visit);
  http::Response Refuse(const Visit& visit, const aws::Refusal& refusal) const;
  http::Response Preflight(const http::Request& request) const;
  http::Response ToResponse(const Visit& visit, wire::Message message) const;
  http::Response Finish(Visit* visit, Result<http::Response> response) const;
  void AddHeaders(const Visit& visit, const std::string& id, http::Response* response) const;
  // Logs failures, denials and changes of definitions; never what is in items.
  void Record(const Visit& visit, int status, std::string_view sent_id) const;
  bool IsAllowedHost(const http::Request& request) const;
  void AddCors(const http::Request& request, http::Headers* headers) const;
  std::string NewRequestId() const;

  const DoorOptions options_;
  tables::Tables& tables_;
  AccessKeys* const keys_;
  WorkerPool& workers_;
  const Runtime runtime_;
  Places large_places_;

  std::mutex mutex_;
  std::condition_variable all_answered_;
  size_t unanswered_ = 0;
};

}  // namespace tidemark::dynamodb
