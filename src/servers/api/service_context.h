// What the service uses and does not own. Only programs choose what is behind these.
#pragma once

#include "apps/attempts/moving/account_store.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "objects/objects.h"
#include "objects/watcher.h"
#include "tables/tables.h"

namespace tidemark::api {

// All of it outlives the service.
struct ServiceContext {
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  objects::Watcher* watcher = nullptr;  // Of the objects; null: nobody notices what others write.
  http::Client* client = nullptr;
  const Clock* clock = nullptr;
  Random* random = nullptr;
  Sleeper* sleeper = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
  moving::AccountStore* old_attempts = nullptr;  // Null: attempts come from nowhere else.
};

}  // namespace tidemark::api
