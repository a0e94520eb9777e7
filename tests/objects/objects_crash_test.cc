// Tests what a crash leaves of the objects in a folder. The power is cut before every call of a
// script, and everything, a part or nothing of the unsynced changes is lost.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "objects/directory/directory_objects.h"
#include "tests/objects/power_cut_files.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::directory {

namespace {

namespace fs = std::filesystem;

// The parts of an object that the caller chooses.
struct Content {
  std::string bytes;
  std::string content_type;
  friend bool operator==(const Content&, const Content&) = default;
};
using Bucket = std::map<std::string, Content>;

// A put, or a delete when there is no content.
struct Step {
  std::string key;
  std::optional<Content> content;
};

const std::vector<Step>& Script() {
  static const std::vector<Step> script = {
      {"a.txt", Content{"first", "text/plain"}},
      {"a.txt", Content{"second, and longer", "text/html"}},
      {"deep/er/b.txt", Content{"in new folders", "text/plain"}},
      {"deep/er/c.txt", Content{"beside it", "text/plain"}},
      {"deep/er/b.txt", Content{"", "text/css"}},
      {"a.txt", std::nullopt},
      {"deep/er/c.txt", std::nullopt},
      {"deep/er/b.txt", std::nullopt},
      {"a.txt", Content{std::string(9'000, 'x'), "text/plain"}},
      {"deep/er/b.txt", Content{"again", "text/plain"}},
  };
  return script;
}

void Apply(const Step& step, Bucket* bucket) {
  if (step.content) {
    (*bucket)[step.key] = *step.content;
  } else {
    bucket->erase(step.key);
  }
}

// One folder on a machine whose power can be cut.
class Machine {
 public:
  explicit Machine(uint64_t seed) : random_(seed) {
    fs::create_directory(folder_);
    fs::create_directory(attic_);
    files_.emplace(folder_, attic_, &random_);
  }

  PowerCutFiles& files() { return *files_; }
  std::string tmp() const { return folder_ + "/.tidemark/tmp"; }

  bool Open() {
    auto opened = DirectoryObjects::Open(folder_, clock_, random_, &*files_);
    if (opened) objects_ = std::move(*opened);
    return opened.has_value();
  }
  void Close() { objects_.reset(); }

  // Returns the code of the error, or nullopt.
  std::optional<ErrorCode> Do(const Step& step) {
    if (!step.content) {
      auto reply = objects_->Delete({.key = step.key});
      return reply ? std::nullopt : std::optional(reply.error().code);
    }
    auto reply = objects_->Put({.key = step.key,
                                .bytes = step.content->bytes,
                                .content_type = step.content->content_type});
    return reply ? std::nullopt : std::optional(reply.error().code);
  }

  // Reads all objects of the folder completely.
  Bucket Read() {
    Bucket bucket;
    auto page = objects_->List({});
    EXPECT_TRUE(page.has_value()) << page.error().message;
    if (!page) return bucket;
    for (const objects::ObjectInfo& info : page->objects) {
      auto object = objects_->Open(info.key);
      EXPECT_TRUE(object.has_value() && *object != nullptr) << info.key;
      if (!object || *object == nullptr) continue;
      auto bytes = (*object)->Read(0, info.size);
      EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
      if (bytes) bucket[info.key] = {*bytes, info.content_type};
    }
    return bucket;
  }

 private:
  TempFolder place_;
  const std::string folder_ = place_.path() + "/bucket";
  const std::string attic_ = place_.path() + "/attic";
  ManualClock clock_;
  SeededRandom random_;
  std::optional<PowerCutFiles> files_;
  std::unique_ptr<DirectoryObjects> objects_;
};

struct Outcome {
  bool completed = false;
  Bucket before;  // All that was acknowledged.
  Bucket after;   // With the step that was running.
};

// Runs the script until the power is cut.
Outcome Run(Machine* machine) {
  Outcome outcome;
  if (!machine->Open()) return outcome;
  for (const Step& step : Script()) {
    Apply(step, &outcome.after);
    const auto error = machine->Do(step);
    if (error || !machine->files().powered()) {
      // The step was acknowledged although a later call failed: for example, an empty folder stays.
      if (!error) outcome.before = outcome.after;
      return outcome;
    }
    outcome.before = outcome.after;
  }
  outcome.completed = true;
  return outcome;
}

void Check(Machine* machine, const Outcome& outcome) {
  ASSERT_TRUE(machine->Open());
  EXPECT_TRUE(fs::is_empty(machine->tmp()));
  const Bucket found = machine->Read();
  EXPECT_TRUE(found == outcome.before || found == outcome.after)
      << found.size() << " objects; " << outcome.before.size() << " were acknowledged";
  // The folder can still be used.
  EXPECT_EQ(machine->Do({"new/one.txt", Content{"1", "a/b"}}), std::nullopt);
}

// Cuts the power before the n-th call. False when the script has fewer calls.
bool CutAt(uint64_t nth, const Losses& losses) {
  Machine machine(nth);
  machine.files().CutAt(nth);
  const Outcome outcome = Run(&machine);
  machine.Close();
  machine.files().Restart(losses);
  Check(&machine, outcome);
  return !outcome.completed;
}

void CutEverywhere(const Losses& losses) {
  uint64_t nth = 1;
  for (; CutAt(nth, losses); ++nth) {
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "the power went before call " << nth;
      return;
    }
  }
  EXPECT_GT(nth, 60U);
}

}  // namespace

// The worst case that POSIX allows: everything that was not synced is lost.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenEverythingUnsyncedIsLost) {
  CutEverywhere({.names = Loss::kAll, .bytes = Loss::kAll});
}

// On many file systems a name is durable before the bytes of its file.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenBytesAreLost) {
  CutEverywhere({.names = Loss::kNone, .bytes = Loss::kAll});
  CutEverywhere({.names = Loss::kNone, .bytes = Loss::kSome});
}

// The process is killed, and the machine keeps running.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenOnlyTheProcessDies) {
  CutEverywhere({.names = Loss::kNone, .bytes = Loss::kNone});
}

// A random part of the unsynced changes is lost.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenSomethingIsLost) {
  for (int round = 0; round < 3; ++round)
    CutEverywhere({.names = Loss::kSome, .bytes = Loss::kSome});
}

// A killed process left a folder that was never synced. The power is cut after the next process
// used it.
TEST(ObjectsCrashTest, MakesDurableWhatAKilledProcessLeft) {
  for (uint64_t nth = 1; nth < 40; ++nth) {
    Machine machine(nth);
    ASSERT_TRUE(machine.Open());
    machine.files().CutAt(nth);
    const Step step{"deep/er/b.txt", Content{"kept", "text/plain"}};
    (void)machine.Do(step);
    machine.Close();
    // Killed: the changes stay unsynced, in the memory of the machine.
    machine.files().PowerBack();
    ASSERT_TRUE(machine.Open());
    ASSERT_EQ(machine.Do(step), std::nullopt);
    machine.Close();
    machine.files().Restart({.names = Loss::kAll, .bytes = Loss::kAll});
    ASSERT_TRUE(machine.Open());
    EXPECT_EQ(machine.Read().size(), 1U) << "killed before call " << nth;
  }
}

// The disk returns an error once. The error of the call must be true.
TEST(ObjectsCrashTest, ReportsTheRealOutcomeOfAFailedCall) {
  const Bucket old = {{"a.txt", {"old", "text/plain"}}};
  for (const Step& step : {Step{"a.txt", Content{"new", "text/html"}}, Step{"a.txt", std::nullopt},
                           Step{"deep/er/b.txt", Content{"new", "text/html"}}}) {
    for (uint64_t nth = 1; nth < 20; ++nth) {
      Machine machine(nth);
      ASSERT_TRUE(machine.Open());
      ASSERT_EQ(machine.Do({"a.txt", old.at("a.txt")}), std::nullopt);
      machine.files().FailAt(nth);
      const auto error = machine.Do(step);
      Bucket changed = old;
      Apply(step, &changed);
      const Bucket found = machine.Read();
      EXPECT_TRUE(error.has_value() || found == changed) << nth;
      EXPECT_TRUE(error != ErrorCode::kUnavailable || found == old) << nth;
      EXPECT_TRUE(error != ErrorCode::kUnknown || found == old || found == changed) << nth;
      EXPECT_TRUE(!error || error == ErrorCode::kUnavailable || error == ErrorCode::kUnknown);
      EXPECT_TRUE(fs::is_empty(machine.tmp())) << nth;
    }
  }
}

}  // namespace tidemark::directory
