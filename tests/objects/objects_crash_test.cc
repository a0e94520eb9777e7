// What a crash leaves of the objects in a folder: the power goes before every call of a script, and
// with everything, something or nothing lost that was not synced.
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
#include "tests/support/temp_folder.h"

namespace tidemark::directory {

namespace {

namespace fs = std::filesystem;

// What is stored under a key, as far as a caller chose it.
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

// One folder, the machine below it, and what it must hold.
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

  // The code of its error, or nullopt.
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

  // Everything that the folder holds, read whole.
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
  Bucket after;   // With the step under way.
};

// Runs the script until the power is gone.
Outcome Run(Machine* machine) {
  Outcome outcome;
  if (!machine->Open()) return outcome;
  for (const Step& step : Script()) {
    Apply(step, &outcome.after);
    const auto error = machine->Do(step);
    if (error || !machine->files().powered()) {
      // Acknowledged, although what came after it failed: an empty folder stays, for example.
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
  // It goes on.
  EXPECT_EQ(machine->Do({"new/one.txt", Content{"1", "a/b"}}), std::nullopt);
}

// The power goes before the nth call. False when the script has fewer.
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

// The most careful reading of the standard: what was not synced is not there.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenEverythingUnsyncedIsLost) {
  CutEverywhere({.names = Loss::kAll, .bytes = Loss::kAll});
}

// Names last longer than bytes on many file systems.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenBytesAreLost) {
  CutEverywhere({.names = Loss::kNone, .bytes = Loss::kAll});
  CutEverywhere({.names = Loss::kNone, .bytes = Loss::kSome});
}

// The process is killed, and the machine lives.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenOnlyTheProcessDies) {
  CutEverywhere({.names = Loss::kNone, .bytes = Loss::kNone});
}

// Anything between.
TEST(ObjectsCrashTest, KeepsTheOldOrTheNewWhenSomethingIsLost) {
  for (int round = 0; round < 3; ++round)
    CutEverywhere({.names = Loss::kSome, .bytes = Loss::kSome});
}

// A killed process left a folder that was never synced; the power goes after the next one used it.
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

// A disk that answers an error once: the caller is told what is so.
TEST(ObjectsCrashTest, TellsWhatAFailedCallDid) {
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
