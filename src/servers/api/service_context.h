// What the service uses and does not own. Only `programs` chooses the implementations.
#pragma once

#include "apps/attempts/moving/migration_store.h"
#include "base/runtime.h"
#include "http/client.h"
#include "objects/objects.h"
#include "objects/watcher.h"
#include "servers/api/backup/backup_maker.h"
#include "servers/api/keys/key_routes.h"
#include "servers/api/tables/verify_service.h"
#include "tables/tables.h"

namespace tidemark::api {

// Everything that it refers to outlives the service.
struct ServiceContext {
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  objects::Watcher* watcher = nullptr;  // Null: documents that other programs write go unnoticed.
  http::Client* client = nullptr;
  Runtime runtime;
  moving::MigrationStore* old_attempts = nullptr;  // Null: no attempts are moved from an old store.
  BackupMaker* backup_maker = nullptr;             // Null: no backups are made.
  VerifyTables verify_tables = nullptr;            // Null: no tables are verified.
  KeyKeeper* keys = nullptr;                       // Null: there are no access keys.
};

}  // namespace tidemark::api
