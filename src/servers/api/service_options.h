// Everything the service can be told, as the options of its parts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/dedup/claims.h"
#include "apps/dedup/deduplicator.h"
#include "apps/dedup/work.h"
#include "apps/documents/options.h"
#include "apps/gate/existence.h"
#include "apps/gate/gate.h"
#include "apps/gate/quarantine.h"
#include "apps/gate/tokens.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/settings.h"
#include "http/server.h"
#include "servers/api/archive_service.h"
#include "servers/api/attempts_service.h"
#include "servers/api/inbox.h"
#include "slack/signature.h"
#include "slack/web_api.h"

namespace tidemark::api {

struct ServiceOptions {
  http::ServerOptions server;
  size_t workers = 64;
  std::string tokens_file;
  std::vector<slack::SigningSecret> signing_secrets;
  // The bot token, from one of three places: fixed, in a file that is watched, or rotated.
  std::optional<Secret> bot_token;
  std::string bot_token_file;
  std::optional<gate::RotatingTokensOptions> rotation;
  slack::WebApiOptions web_api;
  gate::GateOptions gate;
  gate::ExistenceOptions existence;
  gate::UnknownPolicy unknown = gate::UnknownPolicy::kRefuse;
  gate::QuarantineOptions quarantine;
  dedup::ClaimsOptions claims;
  dedup::DeduplicatorOptions dedup;
  bool content_advice = false;
  std::optional<ArchiveServiceOptions> archive;          // nullopt: nothing is archived.
  std::optional<AttemptsServiceOptions> attempts;        // nullopt: none are counted.
  std::optional<documents::DocumentsOptions> documents;  // nullopt: there are none.
  InboxOptions inbox;
  std::string work_url;  // Empty: no work is handed out.
  dedup::WorkOptions work;
  bool background = true;  // Without it nothing happens but by Service::WorkOnce.
};

// kInvalid, naming the setting and what would be right, when a value is out of its range: so that
// a mistake stops the start and not the first request. Likewise when the archive is enabled and
// nobody said that the workspace agreed, and when attempts leave more to guessing than
// attempts.max-yearly-odds.
Result<ServiceOptions> ReadOptions(const Settings& settings);
// The archive's part alone, for commands that work on its table; consent is not asked for.
Result<ArchiveServiceOptions> ReadArchiveOptions(const Settings& settings);
// Likewise for attempts, whatever the odds are.
Result<AttemptsServiceOptions> ReadAttemptsOptions(const Settings& settings);

}  // namespace tidemark::api
