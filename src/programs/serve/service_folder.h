// What the routes of an app need when no server runs them: the tables of a data folder and a
// Runtime that logs to standard error, as a server's does.
//
//   ServiceFolder folder(LogOptionsOf(settings), std::move(tables));
//   api::ServiceContext context = folder.context();
//
// Any thread may use it.
#pragma once

#include <memory>
#include <utility>

#include "programs/program_runtime.h"
#include "servers/api/service_context.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::programs {

class ServiceFolder {
 public:
  ServiceFolder(const LogOptions& log, std::unique_ptr<embedded::EmbeddedTables> tables)
      : program_(log), tables_(std::move(tables)) {}
  ServiceFolder(const ServiceFolder&) = delete;
  ServiceFolder& operator=(const ServiceFolder&) = delete;

  // Only tables and runtime are set; the caller adds what else its service needs. Valid as long as
  // this.
  api::ServiceContext context() { return {.tables = tables_.get(), .runtime = program_.runtime()}; }
  const Clock& clock() { return program_.runtime().clock; }
  Random& random() { return program_.runtime().random; }

 private:
  ProgramRuntime program_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
};

}  // namespace tidemark::programs
