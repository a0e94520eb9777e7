#include "slack/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace tidemark::slack {
namespace {

using ::testing::HasSubstr;

template <typename Kind>
Kind MustParse(std::string_view body) {
  return std::get<Kind>(ParseEnvelope(body).value());
}

// The inner event, put into an envelope.
Event InnerOf(std::string_view event) {
  return MustParse<EventCallback>(R"({"type":"event_callback","event":)" + std::string(event) + "}")
      .event;
}

std::string ErrorOf(std::string_view body) {
  auto envelope = ParseEnvelope(body);
  return envelope ? "parsed" : envelope.error().message;
}

// The shape of an ordinary post, as Slack documents it.
TEST(EventTest, ReadsAMessage) {
  const auto callback = MustParse<EventCallback>(R"({
      "token": "x", "team_id": "T0FOREIGN", "context_team_id": "T0HOME", "api_app_id": "A0APP",
      "event": {"type": "message", "user": "U0AUTHOR", "ts": "1700000000.000100", "text": "hello",
                "channel": "C0ROOM", "channel_type": "channel", "event_ts": "1700000000.000100",
                "thread_ts": "1699999999.000100", "team": "T0FOREIGN", "blocks": []},
      "type": "event_callback", "event_id": "Ev0EVENT", "event_time": 1700000000,
      "authorizations": [{"enterprise_id": "E0GRID", "team_id": "T0HOME", "user_id": "U0BOT",
                          "is_bot": true, "is_enterprise_install": false}],
      "is_ext_shared_channel": true, "event_context": "4-abc", "something_new": {"a": [1]}})");
  EXPECT_EQ(callback.team_id, "T0HOME");
  EXPECT_EQ(callback.event_team_id, "T0FOREIGN");
  EXPECT_EQ(callback.enterprise_id, "E0GRID");
  EXPECT_EQ(callback.api_app_id, "A0APP");
  EXPECT_EQ(callback.event_id, "Ev0EVENT");
  EXPECT_EQ(callback.event_time, 1700000000);
  const Event& event = callback.event;
  EXPECT_EQ(event.type, "message");
  EXPECT_EQ(event.subtype, "");
  EXPECT_EQ(event.user, "U0AUTHOR");
  EXPECT_EQ(event.channel, "C0ROOM");
  EXPECT_EQ(event.ts, "1700000000.000100");
  EXPECT_EQ(event.event_ts, "1700000000.000100");
  EXPECT_EQ(event.thread_ts, "1699999999.000100");
  EXPECT_EQ(event.text, "hello");
  EXPECT_EQ(event.channel_type, "channel");
  EXPECT_FALSE(event.hidden);
  EXPECT_FALSE(event.user_deleted);
}

// The archive reads blocks and other fields from it, so the body is parsed only once. A copy may
// outlive the callback that it was made from.
TEST(EventTest, KeepsTheParsedBodyForFieldsWithoutAMember) {
  EventCallback copy;
  {
    const auto callback = MustParse<EventCallback>(
        R"({"type":"event_callback","event":{"type":"message","something_new":7}})");
    copy = callback;
  }
  ASSERT_NE(copy.document, nullptr);
  EXPECT_EQ(copy.document->root().Find("event")->Find("something_new")->AsInt(), 7);
}

// The team is the one where the app is installed. Only without authorizations the envelope's
// team_id is used.
TEST(EventTest, TakesTheTeamOfTheInstallation) {
  const auto team = [](std::string_view authorizations) {
    return MustParse<EventCallback>(R"({"type":"event_callback","team_id":"T0OUTER",)" +
                                    std::string(authorizations) + R"("event":{"type":"message"}})")
        .team_id;
  };
  EXPECT_EQ(team(R"("authorizations":[{"team_id":"T0A"},{"team_id":"T0B"}],)"), "T0A");
  EXPECT_EQ(team(R"("authorizations":[{"team_id":null,"enterprise_id":"E0"}],)"), "T0OUTER");
  EXPECT_EQ(team(R"("authorizations":[],)"), "T0OUTER");
  EXPECT_EQ(team(R"("authorizations":"T0A",)"), "T0OUTER");
  EXPECT_EQ(team(R"("authed_teams":["T0A"],)"), "T0OUTER");
}

// Slack asks apps to tolerate missing fields; each is empty then.
TEST(EventTest, LeavesMissingFieldsEmpty) {
  const auto callback =
      MustParse<EventCallback>(R"({"type":"event_callback","event":{"type":"team_rename"}})");
  EXPECT_EQ(callback.team_id, "");
  EXPECT_EQ(callback.event_id, "");
  EXPECT_EQ(callback.event_time, 0);
  EXPECT_EQ(callback.event.user, "");
  EXPECT_EQ(callback.event.channel, "");
  EXPECT_EQ(callback.event.event_ts, "");
  EXPECT_TRUE(callback.event.files.empty());
}

// A field of another type counts as missing, so that the event is not lost.
TEST(EventTest, LeavesFieldsOfTheWrongTypeEmpty) {
  const auto callback = MustParse<EventCallback>(
      R"({"type":"event_callback","event_id":7,"event_time":"soon","authorizations":{},
          "event":{"type":"message","user":null,"channel":["C1"],"text":{"a":1},"hidden":"yes",
                   "files":"none","item":3,"message":false,"ts":1700000000.0001}})");
  EXPECT_EQ(callback.event_id, "");
  EXPECT_EQ(callback.event_time, 0);
  EXPECT_EQ(callback.event.user, "");
  EXPECT_EQ(callback.event.channel, "");
  EXPECT_EQ(callback.event.ts, "");
  EXPECT_EQ(callback.event.text, "");
  EXPECT_FALSE(callback.event.hidden);
  EXPECT_TRUE(callback.event.files.empty());
}

// Review: A3
TEST(EventTest, TheEditorOfAMessageIsItsActor) {
  const Event event = InnerOf(R"({
      "type": "message", "subtype": "message_changed", "hidden": true, "channel": "C0ROOM",
      "ts": "1700000009.000200", "event_ts": "1700000009.000200", "channel_type": "group",
      "message": {"type": "message", "user": "U0AUTHOR", "text": "new", "ts": "1700000000.000100",
                  "thread_ts": "1699999999.000100", "files": [{"id": "F0ONE"}],
                  "edited": {"user": "U0EDITOR", "ts": "1700000009.000000"}},
      "previous_message": {"type": "message", "user": "U0AUTHOR", "text": "old",
                           "ts": "1700000000.000100"}})");
  EXPECT_EQ(event.subtype, "message_changed");
  EXPECT_TRUE(event.hidden);
  EXPECT_EQ(event.user, "U0EDITOR");
  EXPECT_EQ(event.channel, "C0ROOM");
  EXPECT_EQ(event.text, "new");
  EXPECT_EQ(event.ts, "1700000009.000200");
  EXPECT_EQ(event.thread_ts, "1699999999.000100");
  ASSERT_EQ(event.files.size(), 1u);
  EXPECT_EQ(event.files[0].id, "F0ONE");
}

// A link preview long after an edit does not say who acted: the editor did not.
// Review: A3
TEST(EventTest, AChangeThatIsNotAnEditHasNoActor) {
  const Event event = InnerOf(R"({
      "type": "message", "subtype": "message_changed", "channel": "C0ROOM",
      "message": {"user": "U0AUTHOR", "edited": {"user": "U0EDITOR", "ts": "1700000009.000000"}},
      "previous_message": {"user": "U0AUTHOR",
                           "edited": {"user": "U0EDITOR", "ts": "1700000009.000000"}}})");
  EXPECT_EQ(event.user, "");
}

// The deleted message is only in previous_message, and its text is not the text of the event. Its
// author may have left long ago, and need not be the one who deleted it.
// Review: A3
TEST(EventTest, ADeletionHasNoActor) {
  const Event event = InnerOf(R"({
      "type": "message", "subtype": "message_deleted", "hidden": true, "channel": "C0ROOM",
      "deleted_ts": "1700000000.000100", "ts": "1700000009.000200",
      "previous_message": {"user": "U0AUTHOR", "bot_id": "B0BOT", "text": "old"}})");
  EXPECT_EQ(event.user, "");
  EXPECT_EQ(event.bot_id, "B0BOT");
  EXPECT_EQ(event.text, "");
}

// Bots may post without a user.
TEST(EventTest, ReadsBotMessages) {
  const Event event = InnerOf(R"({"type":"message","subtype":"bot_message","bot_id":"B0BOT",
                                  "channel":"C0ROOM","text":"","ts":"1.1","attachments":[{}]})");
  EXPECT_EQ(event.user, "");
  EXPECT_EQ(event.bot_id, "B0BOT");
  EXPECT_EQ(InnerOf(R"({"type":"message","subtype":"message_changed",
                        "message":{"bot_id":"B0INNER"}})")
                .bot_id,
            "B0INNER");
}

// user_change and similar events have the whole user, with its deactivation.
TEST(EventTest, ReadsUsersGivenAsObjects) {
  const Event joined = InnerOf(R"({"type":"team_join","user":{"id":"U0NEW","deleted":false}})");
  EXPECT_EQ(joined.user, "U0NEW");
  EXPECT_FALSE(joined.user_deleted);
  const Event left = InnerOf(
      R"({"type":"user_change","user":{"id":"U0GONE","deleted":true,"profile":{"fields":[]}},
          "cache_ts":1700000000,"event_ts":"1700000000.000100"})");
  EXPECT_EQ(left.user, "U0GONE");
  EXPECT_TRUE(left.user_deleted);
}

// Depending on the event, the channel is an id, an object, channel_id or a part of item.
TEST(EventTest, FindsTheChannelInEveryPlaceThatSlackUses) {
  EXPECT_EQ(InnerOf(R"({"type":"channel_created","channel":{"id":"C0NEW","name":"n"}})").channel,
            "C0NEW");
  EXPECT_EQ(InnerOf(R"({"type":"channel_rename","channel":{"id":"C0OLD","name":"n"}})").channel,
            "C0OLD");
  EXPECT_EQ(InnerOf(R"({"type":"channel_archive","channel":"C0OLD","user":"U0X"})").channel,
            "C0OLD");
  const Event shared = InnerOf(
      R"({"type":"file_shared","channel_id":"C0ROOM","file_id":"F0ONE","user_id":"U0X",
          "file":{"id":"F0ONE"},"event_ts":"1700000000.000100"})");
  EXPECT_EQ(shared.channel, "C0ROOM");
  EXPECT_EQ(shared.user, "U0X");
  const Event pinned = InnerOf(
      R"({"type":"pin_added","user":"U0X","channel_id":"C0ROOM","item":{"type":"message",
          "channel":"C0OTHER","message":{"user":"U0AUTHOR"}},"event_ts":"1.1"})");
  EXPECT_EQ(pinned.channel, "C0ROOM");
  EXPECT_EQ(pinned.user, "U0X");
  const Event reaction = InnerOf(
      R"({"type":"reaction_added","user":"U0X","reaction":"+1::skin-tone-2","item_user":"U0AUTHOR",
          "item":{"type":"message","channel":"C0ROOM","ts":"1.1"},"event_ts":"1.2"})");
  EXPECT_EQ(reaction.channel, "C0ROOM");
  EXPECT_EQ(reaction.user, "U0X");
}

// In some events the user is in actor_id.
TEST(EventTest, UsesTheActorAsTheUser) {
  const Event event = InnerOf(R"({"type":"channel_left","channel":"C0ROOM","actor_id":"U0X"})");
  EXPECT_EQ(event.user, "U0X");
  EXPECT_EQ(event.event_ts, "");
}

TEST(EventTest, KeepsBothIdsAfterAChannelChangedItsId) {
  const Event event =
      InnerOf(R"({"type":"channel_id_changed","old_channel_id":"G0OLD","new_channel_id":"C0NEW"})");
  EXPECT_EQ(event.channel, "C0NEW");
  EXPECT_EQ(event.old_channel, "G0OLD");
}

TEST(EventTest, ReadsFiles) {
  const Event event = InnerOf(R"({
      "type": "message", "subtype": "file_share", "user": "U0X", "channel": "C0ROOM",
      "files": [{"id": "F0ONE", "name": "a.png", "mode": "hosted", "mimetype": "image/png",
                 "size": 1234, "is_external": false, "url_private": "https://files.slack.com/a"},
                {"id": "F0TWO", "mode": "external", "is_external": true},
                {"id": "F0STUB", "mode": "file_access", "file_access": "check_file_info",
                 "created": 0, "user": ""}]})");
  ASSERT_EQ(event.files.size(), 3u);
  EXPECT_EQ(event.files[0].id, "F0ONE");
  EXPECT_EQ(event.files[0].name, "a.png");
  EXPECT_EQ(event.files[0].mode, "hosted");
  EXPECT_EQ(event.files[0].mimetype, "image/png");
  EXPECT_EQ(event.files[0].size, 1234);
  EXPECT_FALSE(event.files[0].is_external);
  EXPECT_TRUE(event.files[1].is_external);
  EXPECT_EQ(event.files[2].mode, "file_access");
}

// Old messages have one file, file_shared an id and an object, file_deleted an id alone.
TEST(EventTest, ReadsASingleFile) {
  const auto id = [](std::string_view event) { return InnerOf(event).files.at(0).id; };
  EXPECT_EQ(id(R"({"type":"message","file":{"id":"F0ONE","size":5}})"), "F0ONE");
  EXPECT_EQ(id(R"({"type":"file_shared","file_id":"F0ONE","file":{"id":"F0ONE"}})"), "F0ONE");
  EXPECT_EQ(id(R"({"type":"file_deleted","file_id":"F0ONE","channel_ids":["C1"]})"), "F0ONE");
  EXPECT_EQ(id(R"({"type":"file_public","file":"F0ONE"})"), "F0ONE");
}

TEST(EventTest, ReadsTheChallenge) {
  EXPECT_EQ(MustParse<UrlVerification>(
                R"({"token":"x","challenge":"3eZbrw1aB","type":"url_verification"})")
                .challenge,
            "3eZbrw1aB");
}

// This envelope has no inner event.
TEST(EventTest, ReadsTheLostMinute) {
  const auto limited = MustParse<AppRateLimited>(
      R"({"token":"x","type":"app_rate_limited","team_id":"T0HOME","minute_rate_limited":1518467820,
          "api_app_id":"A0APP"})");
  EXPECT_EQ(limited.team_id, "T0HOME");
  EXPECT_EQ(limited.api_app_id, "A0APP");
  EXPECT_EQ(limited.minute, 1518467820);
}

TEST(EventTest, KeepsUnknownTypes) {
  EXPECT_EQ(MustParse<UnknownEnvelope>(R"({"type":"from_the_future","event":1})").type,
            "from_the_future");
  EXPECT_EQ(InnerOf(R"({"type":"from_the_future","user":"U0X"})").user, "U0X");
}

TEST(EventTest, RefusesBodiesThatAreNotEnvelopes) {
  EXPECT_NE(ErrorOf(""), "parsed");
  EXPECT_NE(ErrorOf("{"), "parsed");
  EXPECT_NE(ErrorOf("payload=%7B%7D"), "parsed");
  for (const char* body :
       {"[]", "null", "7", "\"event_callback\"", "{}", R"({"type":7})", R"({"type":""})"}) {
    EXPECT_THAT(ErrorOf(body), HasSubstr("JSON object with a string \"type\"")) << body;
  }
  for (const char* event : {"", R"(,"event":null)", R"(,"event":[])", R"(,"event":{"user":"U1"})",
                            R"(,"event":{"type":1})"}) {
    EXPECT_THAT(ErrorOf(R"({"type":"event_callback")" + std::string(event) + "}"),
                HasSubstr("object \"event\""))
        << event;
  }
}

// Depth is bounded by the parser, so a hostile body cannot exhaust the stack.
TEST(EventTest, RefusesNestingThatIsTooDeep) {
  const std::string deep(kMaxJsonDepth + 1, '[');
  EXPECT_NE(ErrorOf(R"({"type":"event_callback","event":)" + deep), "parsed");
}

// Text is kept unchanged: markup, right-to-left text, joined emoji and NUL.
TEST(EventTest, KeepsTextAsItCame) {
  using std::string_literals::operator""s;
  const Event event =
      InnerOf(R"({"type":"message","text":"a\u0000b &lt;x&gt; \u202e \ud83d\ude00 \\ud83d"})");
  EXPECT_EQ(event.text, "a\0b &lt;x&gt; \u202e \U0001f600 \\ud83d"s);
}

// Text that was cut in the middle of an emoji has no UTF-8 form. The event is signed and real, so
// it is not refused for that.
TEST(EventTest, ReplacesHalvesOfSurrogatePairs) {
  const auto text = [](std::string_view escaped) {
    return InnerOf(R"({"type":"message","text":")" + std::string(escaped) + "\"}").text;
  };
  EXPECT_EQ(text(R"(a\ud83d)"), "a\ufffd");
  EXPECT_EQ(text(R"(\ude00b)"), "\ufffdb");
  EXPECT_EQ(text(R"(\ud83d\ud83d\ude00)"), "\ufffd\U0001f600");
  EXPECT_EQ(text(R"(\ud83d\n\uDE00\\ud83d)"), "\ufffd\n\ufffd\\ud83d");
  EXPECT_NE(ErrorOf(R"({"type":"x","text":"\ud83d\u12"})"), "parsed");
  EXPECT_NE(ErrorOf(R"({"type":"x","text":"\ud83d)"), "parsed");
}

}  // namespace
}  // namespace tidemark::slack
