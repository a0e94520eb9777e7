// Everything the service can be told, as the options of its parts.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
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
#include "servers/api/archive/service.h"
#include "servers/api/attempts/service.h"
#include "servers/api/front_door/inbox.h"
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
  std::map<slack::TeamId, Secret> team_tokens;  // Of teams that have a bot token of their own.
  slack::WebApiOptions web_api;
  bool lists = true;  // Whether Slack's lists of channels and people are read.
  gate::GateOptions gate;
  gate::ExistenceOptions existence;
  gate::UnknownPolicy unknown = gate::UnknownPolicy::kAcknowledge;
  gate::QuarantineOptions quarantine;
  // What callers of the API claim, and what the front door and its work have handled. Two tables:
  // no key that a caller claims may count as an event that was stored.
  dedup::ClaimsOptions claims;
  dedup::ClaimsOptions marks = {.table = "tidemark-events"};
  dedup::DeduplicatorOptions dedup;
  bool content_advice = false;
  // nullopt: the service runs without the app.
  std::optional<ArchiveServiceOptions> archive;
  std::optional<AttemptsServiceOptions> attempts;
  std::optional<documents::DocumentsOptions> documents;
  InboxOptions inbox;
  std::string work_url;  // Empty: no work is posted.
  Secret work_secret;    // Empty: deliveries of work are not signed.
  std::chrono::seconds work_first_wait = std::chrono::seconds(15);  // Before the second try.
  dedup::WorkOptions work;
  // The tables of the apps, also of those that are off: they are not for callers of the API.
  std::set<std::string> app_tables;
  std::string backups_folder = "tidemark-backups";
  bool background = true;  // False: background work is done only by Service::WorkOnce.
};

// kInvalid when a value is out of its range, with the name of the setting and the allowed range. So
// a mistake is found at the start and not by the first request. Also kInvalid when the archive is
// enabled without archive.consent, and when the policy of attempts makes guessing more likely than
// attempts.max-odds or attempts.max-yearly-odds. With neither consent nor a signing secret the
// service runs without the archive.
Result<ServiceOptions> ReadOptions(const Settings& settings);
// Only the archive's options, for commands that work on its table. Consent is not required.
Result<ArchiveServiceOptions> ReadArchiveOptions(const Settings& settings);
// kInvalid, naming the setting, when one is no probability.
Result<attempts::OddsBounds> ReadOddsBounds(const Settings& settings);
// Only the options of attempts. The odds are not checked.
Result<AttemptsServiceOptions> ReadAttemptsOptions(const Settings& settings);

}  // namespace tidemark::api
