// DataFolder is a temporary data folder of the embedded tables. Its disk fails when the test says
// so, the test moves its clock, and housekeeping does not run by itself.
//
//   DataFolder folder;
//   auto tables = folder.Open();
//   ... write, then tables.reset() and folder.Open() to see what is left ...
//
// One thread uses the DataFolder; any thread may use the tables. Destroy the tables first.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark {

class DataFolder {
 public:
  // The options that Open() uses.
  embedded::Options options() {
    return {.folder = path(),
            .background = false,
            .clock = &clock_,
            .random = &random_,
            .file_system = files_};
  }

  std::unique_ptr<embedded::EmbeddedTables> Open() { return Open(options()); }
  static std::unique_ptr<embedded::EmbeddedTables> Open(const embedded::Options& options) {
    auto opened = embedded::EmbeddedTables::Open(options);
    if (!opened.has_value()) std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    CHECK(opened.has_value());
    return *std::move(opened);
  }

  std::string path() const { return temporary_.path() + "/data"; }
  ManualClock& clock() { return clock_; }
  FaultFileSystem& files() { return *files_; }

 private:
  TempFolder temporary_;
  ManualClock clock_;
  SeededRandom random_{1};
  std::shared_ptr<FaultFileSystem> files_ =
      std::make_shared<FaultFileSystem>(temporary_.path(), &random_);
};

}  // namespace tidemark
