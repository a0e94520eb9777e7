// The ArchiveService is the archive as the server runs it: the Archive that stores events, the
// Reader that answers requests, and the Processors that work in the background. At its start it
// records the downtime before it as a loss in the coverage.
//
// Call StepRows from one thread and StepFiles from another, because downloads take long. Beat may
// be called from any thread.
#pragma once

#include <string>

#include "apps/archive/archive.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/files.h"
#include "apps/archive/processors.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "apps/gate/tokens.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/archive/import_service.h"
#include "servers/api/archive/names.h"
#include "servers/api/service_context.h"
#include "slack/download.h"
#include "slack/web_api.h"

namespace tidemark::api {

struct ArchiveServiceOptions {
  archive::ArchiveOptions archive;
  archive::ChannelIndexOptions index;
  archive::DeletedPolicy deleted;
  archive::FilesOptions files;
  slack::DownloadOptions download;
  std::string state_table = "tidemark-archive-state";
  std::string imports_folder = "tidemark-imports";  // Exports that are being sent.
  bool fetch_files = true;
};

class ArchiveService {
 public:
  // All outlive this.
  ArchiveService(ArchiveServiceOptions options, const ServiceContext& context,
                 slack::WebApi* web_api, const gate::Tokens* tokens);

  // Creates the tables and records what was lost since the last beat.
  Status Start();
  void AddRoutes(http::Router* router, TokenFile* tokens);

  Status StepRows() { return processors_.StepRows(); }
  Status StepFiles() { return processors_.StepFiles(); }
  // Call this from time to time while events are received.
  Status Beat();
  // Ends running steps soon and lets no other begin. May be called from any thread.
  void Stop() {
    processors_.Stop();
    files_.Stop();
    imports_.Stop();
  }

  // For the names that Slack's lists have.
  NamesParts names() { return {.archive = &archive_, .index = &index_, .tables = context_.tables}; }

  archive::Archive& archive() { return archive_; }
  archive::Ledger& ledger() { return ledger_; }

 private:
  Status RecordPolicy();

  const ArchiveServiceOptions options_;
  const ServiceContext context_;
  archive::State state_;
  archive::Archive archive_;
  archive::ChannelIndex index_;
  archive::Ledger ledger_;
  archive::Reader reader_;
  slack::Downloader downloader_;
  archive::Files files_;
  archive::Processors processors_;
  ImportService imports_;
  // A slow disk, and large answers, use up these threads only.
  WorkerPool file_workers_{{.threads = 8, .max_waiting = 1024}};
  WorkerPool read_workers_{{.threads = 16, .max_waiting = 2048}};
};

}  // namespace tidemark::api
