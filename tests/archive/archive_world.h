// ArchiveWorld is an archive over the model of the tables, given events as Slack sends them.
//
//   ArchiveWorld world;
//   world.Post(Posted("1620000000.000100", "hello"));
//   EXPECT_EQ(TextIn(world.MessageRow("1620000000.000100"), "text"), "hello");
//
// The events below are all of team T1 and, unless they say otherwise, of channel C1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/archive/archive.h"
#include "apps/archive/attributes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "slack/event.h"
#include "tests/archive/store_event.h"
#include "tests/model/model_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/print_items.h"
#include "tests/support/test_runtime.h"

namespace tidemark::archive {

// ---- Events ----

inline std::string Quoted(std::string_view text) {
  std::string json;
  JsonWriter(&json).String(text);
  return json;
}

// The body that carries an event.
inline std::string EnvelopeOf(const std::string& event) {
  return fmt::format(
      R"({{"type":"event_callback","team_id":"T1X","event_id":"Ev1","event_time":1620000999,)"
      R"("authorizations":[{{"team_id":"T1X","user_id":"UBOT","is_bot":true}}],"event":{}}})",
      event);
}

inline slack::EventCallback ParseCallback(const std::string& body) {
  const auto envelope = slack::ParseEnvelope(body);
  CHECK(envelope.has_value());
  const auto* const callback = std::get_if<slack::EventCallback>(&*envelope);
  CHECK(callback != nullptr);
  return *callback;
}

// `more` begins with a comma: {"type":"message", ... more}.
inline std::string Posted(std::string_view ts, std::string_view text, std::string_view more = "") {
  return fmt::format(R"({{"type":"message","channel":"C1X","channel_type":"channel","user":"U1X",)"
                     R"("ts":"{0}","event_ts":"{0}","text":{1}{2}}})",
                     ts, Quoted(text), more);
}

// A message as it stands inside another event.
inline std::string Inner(std::string_view ts, std::string_view text, std::string_view more = "") {
  return fmt::format(R"({{"type":"message","user":"U1X","ts":"{}","text":{}{}}})", ts, Quoted(text),
                     more);
}

inline std::string Edited(std::string_view edited_ts) {
  return fmt::format(R"(,"edited":{{"user":"U1X","ts":"{}"}})", edited_ts);
}

// "" for no previous message.
inline std::string Changed(std::string_view event_ts, const std::string& message,
                           const std::string& previous) {
  return fmt::format(
      R"({{"type":"message","subtype":"message_changed","hidden":true,"channel":"C1X",)"
      R"("channel_type":"channel","ts":"{0}","event_ts":"{0}","message":{1}{2}{3}}})",
      event_ts, message, previous.empty() ? "" : R"(,"previous_message":)", previous);
}

inline std::string Deleted(std::string_view event_ts, std::string_view ts,
                           const std::string& previous) {
  return fmt::format(
      R"({{"type":"message","subtype":"message_deleted","hidden":true,"channel":"C1X",)"
      R"("channel_type":"channel","ts":"{0}","event_ts":"{0}","deleted_ts":"{1}"{2}{3}}})",
      event_ts, ts, previous.empty() ? "" : R"(,"previous_message":)", previous);
}

inline std::string Tombstone(std::string_view ts) {
  return fmt::format(R"({{"type":"message","subtype":"tombstone","user":"USLACKBOT","hidden":true,)"
                     R"("ts":"{0}","thread_ts":"{0}","text":"This message was deleted."}})",
                     ts);
}

// ---- The archive ----

class ArchiveWorld {
 public:
  explicit ArchiveWorld(ArchiveOptions options = {})
      : archive_(std::move(options), &tables_, test_.runtime()) {
    CHECK(archive_.CreateTable().has_value());
  }

  ArchiveOutcome Post(const std::string& event, ToldChannel told = ToldChannel::kUnknown) {
    return PostBody(EnvelopeOf(event), told);
  }
  // The same for an event whose channel Slack has just called public.
  ArchiveOutcome PostOfPublic(const std::string& event) {
    return Post(event, ToldChannel::kPublic);
  }
  ArchiveOutcome PostBody(const std::string& body, ToldChannel told = ToldChannel::kUnknown) {
    const auto outcome = StoreEvent(archive_, tables_, ParseCallback(body), told);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message << " for " << body;
    return outcome ? *outcome : ArchiveOutcome::kIncomplete;
  }
  Plan PlanOf(const std::string& event) {
    const std::string body = EnvelopeOf(event);
    auto plan = archive_.PlanEvent(ParseCallback(body));
    CHECK(plan.has_value());
    return *std::move(plan);
  }
  // False: a condition of the plan did not hold.
  bool Write(Plan plan) {
    if (plan.actions.empty()) return true;
    const auto reply = tables_.TransactWrite({.actions = std::move(plan.actions)});
    CHECK(reply.has_value());
    return reply->outcome == tables::TransactOutcome::kApplied;
  }

  // Empty when there is none.
  item::Item Row(const std::string& item_id, const std::string& timestamp) {
    const auto row =
        tables_.Get({.table = archive_.options().table, .key = KeyOf(item_id, timestamp)});
    CHECK(row.has_value());
    return row->value_or(item::Item());
  }
  item::Item MessageRow(const std::string& ts) { return Row("message#T1X#C1X", ts); }
  item::Item VersionRow(const std::string& ts, const std::string& version) {
    return Row("meta#T1X#versions#C1X#" + ts, version);
  }

  // All rows, in the order of their keys.
  std::vector<item::Item> Rows() {
    const auto page = tables_.Scan({.table = archive_.options().table, .consistent = true});
    CHECK(page.has_value() && !page->last);
    return page->items;
  }
  // How often a row was written depends on the order of events; nothing else does.
  std::vector<item::Item> RowsWithoutRevisions() {
    std::vector<item::Item> rows = Rows();
    for (item::Item& row : rows) row.Erase("revision");
    return rows;
  }
  // The rows of the only channel with events, as one.
  Channel ChannelState(const std::string& channel = "C1X") {
    std::vector<item::Item> of_channel;
    for (const item::Item& row : Rows()) {
      if (TextIn(row, "itemId") == "channel#T1X#" + channel) of_channel.push_back(row);
    }
    CHECK(!of_channel.empty());
    auto joined = JoinRows(of_channel);
    CHECK(joined.has_value());
    return *std::move(joined);
  }

  std::string Log() { return log_ += test_.TakeLog(); }
  model::ModelTables& tables() { return tables_; }
  Archive& archive() { return archive_; }
  Metrics& metrics() { return test_.metrics; }
  ManualClock& clock() { return test_.clock; }
  Runtime runtime() { return test_.runtime(); }

 private:
  testing::TestRuntime test_;
  std::string log_;
  model::ModelTables tables_{test_.clock};
  Archive archive_;
};

}  // namespace tidemark::archive
