// ViewsWorld is an archive with everything that uses its rows: the channel index, the ledger, the
// reader, the processors, and objects in memory. The clock shows 1,700,000,000 until the test moves
// it.
//
//   ViewsWorld world;
//   world.archive.Post(Posted("1700000000.000100", "hello"));
//   ASSERT_TRUE(world.StepRows());
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/processors.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "tests/archive/archive_world.h"
#include "tests/support/memory_objects.h"
#include "tests/support/process_runtime.h"

namespace tidemark::archive {

inline slack::Timestamp Ts(const std::string& text) {
  auto ts = slack::Timestamp::Parse(text);
  CHECK(ts.has_value());
  return *std::move(ts);
}

inline Place PlaceOf(const std::string& channel, const std::string& team = "T1X") {
  auto parsed_team = slack::TeamId::Parse(team);
  auto parsed_channel = slack::ChannelId::Parse(channel);
  CHECK(parsed_team.has_value() && parsed_channel.has_value());
  return {.team = *std::move(parsed_team), .channel = *std::move(parsed_channel)};
}

// The value of a success; a failure fails the test with its message.
template <typename T>
T Value(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message;
  CHECK(result.has_value());
  return *std::move(result);
}

// {"type": ..., "channel": "C1X" as text, "event_ts": ... more}
inline std::string ChannelEvent(std::string_view type, std::string_view channel,
                                std::string_view event_ts) {
  return fmt::format(R"({{"type":"{}","channel":"{}","event_ts":"{}"}})", type, channel, event_ts);
}
// channel_created and channel_rename carry an object. It says that the channel is public.
inline std::string NamedChannelEvent(std::string_view type, std::string_view channel,
                                     std::string_view name, std::string_view event_ts) {
  return fmt::format(R"({{"type":"{}","channel":{{"id":"{}","name":"{}","is_private":false}},)"
                     R"("event_ts":"{}"}})",
                     type, channel, name, event_ts);
}

// A message of another channel than Posted's.
inline std::string PostedIn(std::string_view channel, std::string_view ts, std::string_view text,
                            std::string_view more = "") {
  return fmt::format(R"({{"type":"message","channel":"{0}","channel_type":"channel","user":"U1X",)"
                     R"("ts":"{1}","event_ts":"{1}","text":{2}{3}}})",
                     channel, ts, Quoted(text), more);
}

inline std::string InThread(std::string_view thread_ts) {
  return fmt::format(R"(,"thread_ts":"{}")", thread_ts);
}

inline std::vector<std::string> TextsOf(const MessagePage& page) {
  std::vector<std::string> texts;
  for (const Message& message : page.messages) {
    texts.push_back(message.body && message.body->text ? *message.body->text : "-");
  }
  return texts;
}

class ViewsWorld {
 public:
  struct Options {
    DeletedPolicy deleted = {};
    ChannelIndexOptions index = {};
  };
  ViewsWorld() : ViewsWorld(Options()) {}
  explicit ViewsWorld(Options options)
      : state("tidemark-archive-state", &archive.tables()),
        index(options.index, &archive.tables(), archive.runtime()),
        ledger("SlackArchive", &archive.tables()),
        reader({.deleted = options.deleted}, &archive.tables(), &index, &archive.clock()),
        deleted_(options.deleted) {
    CHECK(state.CreateTable().has_value());
    Restart();
  }

  // New processors, as after a restart: what they had in memory is gone.
  void Restart() {
    processors.reset();
    process.emplace(archive.clock(), &archive.clock(), 1);
    processors.emplace(ProcessorsOptions{.deleted = deleted_},
                       ProcessorsParts{.tables = &archive.tables(),
                                       .state = &state,
                                       .index = &index,
                                       .ledger = &ledger,
                                       .objects = &objects,
                                       .runtime = process->runtime()});
  }
  bool StepRows() {
    const Status status = processors->StepRows();
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return status.has_value();
  }
  // Posts, and lets the processors see it.
  void Tell(const std::string& event) {
    archive.Post(event);
    StepRows();
  }

  ArchiveWorld archive;
  testing::MemoryObjects objects;
  State state;
  ChannelIndex index;
  Ledger ledger;
  Reader reader;
  std::optional<testing::ProcessRuntime> process;  // The runtime of the processors.
  std::optional<Processors> processors;
  // The runtime of further processors. They need their own metrics.
  testing::ProcessRuntime beside{archive.clock(), &archive.clock(), 2};

 private:
  const DeletedPolicy deleted_;
};

}  // namespace tidemark::archive
