// The ArchiveService is the archive as the server runs it: what stores events, what answers about
// them, and what goes on behind. It notes its own downtime as a loss of history.
//
// StepRows is for one thread, StepFiles for another: downloads take long. Beat is for any.
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
  bool fetch_files = true;
};

class ArchiveService {
 public:
  // All outlive this.
  ArchiveService(ArchiveServiceOptions options, const ServiceContext& context,
                 slack::WebApi* web_api, const gate::Tokens* tokens);

  // Makes the tables, and notes what was lost since the last beat.
  Status Start();
  void AddRoutes(http::Router* router, TokenFile* tokens);

  Status StepRows() { return processors_.StepRows(); }
  Status StepFiles() { return processors_.StepFiles(); }
  // Now and then, while events are taken.
  Status Beat();
  // Ends steps under way soon, and lets none begin. From any thread.
  void Stop() { processors_.Stop(); }

  archive::Archive& archive() { return archive_; }
  archive::Ledger& ledger() { return ledger_; }

 private:
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
};

}  // namespace tidemark::api
