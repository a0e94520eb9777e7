#include "tests/support/interrupted_tables.h"

#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace tidemark::testing {
namespace {

// On a real disk a sync takes time, and meanwhile other writes wait for the next one. The simulated
// disk is too fast for that, so its syncs wait. At the power cut many writes should be in progress.
bool ChangesSlowly(const FileCall& call) {
  for (int i = 0; call.kind == FileCallKind::kSync && i < 100; ++i) std::this_thread::yield();
  return Changes(call);
}

}  // namespace

InterruptedTables::InterruptedTables(const InterruptedOptions& options)
    : options_(options), random_(options.seed) {
  const bool cut = options.interruption == Interruption::kPowerCut;
  CHECK(!cut || options.durability == embedded::Durability::kSynced);
  if (cut) files_ = std::make_shared<FaultFileSystem>(folder_.path(), &random_);
  Open();
  CHECK(tables_->CreateTable(options.table).has_value());
  if (!cut) return;
  files_->Arm(
      {.matches = ChangesSlowly, .nth = 1 + random_.Below(30), .effect = FaultEffect::kPowerCut});
}

void InterruptedTables::Interrupt() {
  if (options_.interruption == Interruption::kNone) return;
  if (files_) files_->PowerCut();
  tables_.reset();
  if (files_) {
    files_->Disarm();
    files_->Restart();
  }
  Open();
}

void InterruptedTables::Open() {
  auto opened = embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                                .durability = options_.durability,
                                                .file_system = files_});
  if (!opened) ADD_FAILURE() << "seed " << options_.seed << ": " << opened.error().message;
  tables_ = std::move(opened).value();
}

}  // namespace tidemark::testing
