#include "apps/archive/message.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidemark::archive {

namespace {

// A file of Slack Connect that is only announced: nothing of it is known but its id.
constexpr std::string_view kStubMode = "file_access";

// What events disagree on is settled by the order of texts: any rule does that needs no order of
// arrival, and Slack never sends two values that matter.
void JoinText(const std::string& told, std::string* known) {
  if (*known < told) *known = told;
}

bool IsBetter(const FileMeta& told, const FileMeta& known) {
  const bool told_is_stub = told.mode == kStubMode;
  const bool known_is_stub = known.mode == kStubMode;
  return told_is_stub == known_is_stub ? known < told : known_is_stub;
}

void JoinFile(const FileMeta& told, std::vector<FileMeta>* files) {
  const auto at = std::lower_bound(
      files->begin(), files->end(), told,
      [](const FileMeta& left, const FileMeta& right) { return left.id < right.id; });
  if (at == files->end() || at->id != told.id) {
    files->insert(at, told);
  } else if (IsBetter(told, *at)) {
    *at = told;
  }
}

// Which of two bodies of one version is to be kept. What was told of directly outweighs what was
// told in passing. Of the former the latest counts, since it has the link previews; of the latter
// the earliest, since it is the nearest to the body's own time. Two of one event_ts are of one
// event.
bool IsBetter(const Body& told, const Body& known) {
  if (told.inferred != known.inferred) return known.inferred;
  return told.inferred ? told.event_ts < known.event_ts : told.event_ts > known.event_ts;
}

void KeepBetter(Body told, std::map<slack::Timestamp, Body>* older) {
  const auto [at, is_new] = older->try_emplace(told.version, told);
  if (!is_new && IsBetter(told, at->second)) at->second = std::move(told);
}

Body WithoutRawEvent(Body body) {
  body.raw_event.clear();
  return body;
}

void JoinBody(const Body& told, MessageState* state) {
  std::optional<Body>& newest = state->message.body;
  if (newest && told.version < newest->version) {
    KeepBetter(WithoutRawEvent(told), &state->older);
    return;
  }
  if (newest && told.version == newest->version && !IsBetter(told, *newest)) return;
  if (newest && told.version != newest->version) {
    KeepBetter(WithoutRawEvent(*std::move(newest)), &state->older);
  }
  newest = told;
  state->message.raw_event_dropped = false;
}

}  // namespace

void Join(const Traits& told, Traits* known) {
  JoinText(told.user, &known->user);
  JoinText(told.bot_id, &known->bot_id);
  JoinText(told.username, &known->username);
  JoinText(told.subtype, &known->subtype);
  JoinText(told.thread_ts, &known->thread_ts);
  for (const FileMeta& file : told.files) JoinFile(file, &known->files);
}

// What was removed by policy does not come back by an event that is late.
void Join(const Observation& observation, MessageState* state) {
  if (state->message.purged) return;
  Join(observation.traits, &state->message.traits);
  JoinBody(observation.body, state);
}

void JoinDeletion(const slack::Timestamp& deleted_ts, MessageState* state) {
  std::optional<slack::Timestamp>& known = state->message.deleted_ts;
  if (!known || deleted_ts < *known) known = deleted_ts;
}

}  // namespace tidemark::archive
