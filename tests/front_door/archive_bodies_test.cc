// What the routes show of a message: which event its body is from, its versions, its attachments,
// its author's name, and a line for people when it has no text. And that an unknown channel is no
// empty one.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/front_door/archive_api_fixture.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTs[] = "1700000000.000100";
const std::string kMessage = fmt::format("{}/messages/{}", kBase, kTs);

std::string Inner(std::string_view text, std::string_view more = "") {
  return fmt::format(R"({{"type":"message","user":"U1X","ts":"{}","text":"{}"{}}})", kTs, text,
                     more);
}

std::string Changed(std::string_view event_ts, const std::string& message,
                    const std::string& previous = "") {
  return fmt::format(
      R"({{"type":"message","subtype":"message_changed","channel":"C1X","channel_type":"channel",)"
      R"("ts":"{0}","event_ts":"{0}","message":{1}{2}{3}}})",
      event_ts, message, previous.empty() ? "" : R"(,"previous_message":)", previous);
}

// Slack sends message_replied with its subtype or, by a fault of its own, without.
std::string ReplyNotice(std::string_view subtype) {
  return fmt::format(
      R"({{"type":"message",{0}"channel":"C1X","channel_type":"channel","hidden":true,)"
      R"("ts":"1700000030.000100","event_ts":"1700000030.000100","message":{1}}})",
      subtype,
      Inner("root", fmt::format(R"(,"thread_ts":"{}","reply_count":1,"replies":[])", kTs)));
}

class ArchiveBodiesTest : public ArchiveApiTest {
 protected:
  using ArchiveApiTest::ArchiveApiTest;

  void PostRoot() {
    Post(kTs, "root", R"(,"blocks":[{"type":"rich_text","block_id":"own"}],"client_msg_id":"1")");
  }
  void ExpectRootAsPosted() {
    const http::Response shown = Get(kMessage);
    EXPECT_THAT(In(shown, "versions"), HasSubstr(R"("blocks":[{"type":"rich_text")"));
    EXPECT_THAT(In(shown, "raw_event"), HasSubstr("client_msg_id"));
    EXPECT_THAT(shown.body, Not(HasSubstr("inferred")));
    EXPECT_THAT(In(shown, "message"), HasSubstr(fmt::format(R"("thread_ts":"{}")", kTs)));
  }
  // The texts of all versions, oldest first.
  std::string Versions() {
    const auto detail = JsonDocument::Parse(Get(kMessage).body);
    std::string texts;
    for (const Json version : detail->root().Find("versions")->Elements()) {
      texts += TextIn(version, "text") + " ";
    }
    return texts;
  }
};

class WithoutRawEventsTest : public ArchiveBodiesTest {
 protected:
  WithoutRawEventsTest() : ArchiveBodiesTest({}, {.raw_events = false}) {}
};

// ---- Events around a message ----

TEST_F(ArchiveBodiesTest, ANoticeOfAReplyLeavesItsRootAsItWasPosted) {
  for (const char* const subtype : {R"("subtype":"message_replied",)", ""}) {
    PostRoot();
    Store(ReplyNotice(subtype));
    ExpectRootAsPosted();
  }
}

TEST_F(ArchiveBodiesTest, ThePostReplacesTheBodyOfAnEarlierNoticeOfAReply) {
  Store(ReplyNotice(""));
  EXPECT_THAT(Get(kMessage).body, HasSubstr(R"("inferred":true)"));
  EXPECT_EQ(Versions(), "root ");
  PostRoot();
  ExpectRootAsPosted();
}

// A change that changes nothing of what is shown: the number of replies, for example.
TEST_F(ArchiveBodiesTest, AChangeOfThreadCountsLeavesTheRootAsItWasPosted) {
  PostRoot();
  const std::string thread = fmt::format(R"(,"thread_ts":"{}","reply_count":1)", kTs);
  Store(Changed("1700000030.000100", Inner("root", thread), Inner("root")));
  ExpectRootAsPosted();
}

// ---- Versions ----

// Slack gives the time of an edit in whole seconds, and the event need not say what was before.
TEST_F(ArchiveBodiesTest, EachOfTwoEditsOfTheSameTimeIsAVersion) {
  const std::string edited = R"(,"edited":{"user":"U1X","ts":"1700000010.000000"})";
  std::vector<std::string> edits = {
      Changed("1700000010.200000", Inner("two", edited)),
      Changed("1700000010.700000", Inner("three", edited), Inner("two")),
      Changed("1700000011.300000", Inner("four", edited)),
      Changed("1700000020.100000",
              Inner("five", R"(,"edited":{"user":"U1X","ts":"1700000020.000000"})"),
              Inner("four", edited))};
  Post(kTs, "one");
  for (const std::string& edit : edits) Store(edit);
  EXPECT_EQ(Versions(), "one two three four five ");
  const std::string shown = Get(kMessage).body;
  for (const std::string& edit : edits) Store(edit);
  EXPECT_EQ(Get(kMessage).body, shown) << "repeated events change nothing";
}

TEST_F(ArchiveBodiesTest, EditsOfTheSameTimeAreVersionsInAnyOrder) {
  const std::string edited = R"(,"edited":{"user":"U1X","ts":"1700000010.000000"})";
  std::vector<std::string> edits = {Changed("1700000010.200000", Inner("two", edited)),
                                    Changed("1700000010.700000", Inner("three", edited)),
                                    Changed("1700000010.900000", Inner("two", edited))};
  int tried = 0;
  do {
    const std::string ts = fmt::format("17000001{:02}.000100", ++tried);
    for (std::string event : edits) {
      for (size_t at = event.find(kTs); at != std::string::npos; at = event.find(kTs)) {
        event.replace(at, ts.size(), ts);
      }
      Store(event);
    }
    const auto detail = JsonDocument::Parse(Get(fmt::format("{}/messages/{}", kBase, ts)).body);
    std::string texts;
    for (const Json version : detail->root().Find("versions")->Elements()) {
      texts += TextIn(version, "text") + " ";
    }
    EXPECT_EQ(texts, "two three two ");
  } while (std::ranges::next_permutation(edits).found);
}

// ---- Attachments ----

constexpr char kBotAttachments[] =
    R"([{"color":"good","title":"Build 7","text":"passed","fallback":"Build 7 passed"}])";

TEST_F(ArchiveBodiesTest, AttachmentsAreInListsAndVersions) {
  Post(kTs, "", fmt::format(R"(,"bot_id":"B1X","attachments":{})", kBotAttachments));
  const std::string list = Get(fmt::format("{}/messages", kBase)).body;
  EXPECT_THAT(list, HasSubstr(fmt::format(R"("attachments":{})", kBotAttachments)));
  EXPECT_THAT(list, HasSubstr(R"("summary":"Build 7 passed")"));
  EXPECT_THAT(In(Get(kMessage), "versions"),
              HasSubstr(fmt::format(R"("attachments":{})", kBotAttachments)));
}

TEST_F(WithoutRawEventsTest, AttachmentsAreKeptWithEachVersion) {
  Post(kTs, "", fmt::format(R"(,"bot_id":"B1X","attachments":{})", kBotAttachments));
  const std::string later = R"([{"fallback":"Build 8 failed"}])";
  Store(Changed("1700000005.000100",
                fmt::format(R"({{"type":"message","bot_id":"B1X","ts":"{}","text":"",)"
                            R"("attachments":{}}})",
                            kTs, later),
                fmt::format(R"({{"type":"message","bot_id":"B1X","ts":"{}","text":"",)"
                            R"("attachments":{}}})",
                            kTs, kBotAttachments)));
  const http::Response shown = Get(kMessage);
  EXPECT_EQ(In(shown, "raw_event"), "");
  EXPECT_THAT(In(shown, "message"), HasSubstr(R"("summary":"Build 8 failed")"));
  EXPECT_THAT(In(shown, "message"), HasSubstr(fmt::format(R"("attachments":{})", later)));
  EXPECT_THAT(In(shown, "versions"),
              HasSubstr(fmt::format(R"("attachments":{})", kBotAttachments)));
}

// Of a forwarded message only the reference is kept: see archive_copies_test.cc.
TEST_F(WithoutRawEventsTest, AForwardedMessageIsAReference) {
  Post(kTs, "",
       R"(,"attachments":[{"is_share":true,"from_url":"https://x.slack.com/archives/C2X/p1",)"
       R"("text":"of somebody else"}])");
  const std::string list = Get(fmt::format("{}/messages", kBase)).body;
  EXPECT_THAT(list, HasSubstr(R"("summary":"[https://x.slack.com/archives/C2X/p1]")"));
  EXPECT_THAT(list, Not(HasSubstr("of somebody else")));
}

// ---- A line for people ----

TEST_F(ArchiveBodiesTest, AMessageWithoutTextHasASummary) {
  struct Case {
    const char* more;
    const char* summary;
  };
  const Case cases[] = {
      {R"(,"files":[{"id":"F1X","name":"a.pdf"},{"id":"F2X","title":"B"}])", "[a.pdf] [B]"},
      {R"(,"attachments":[{"fallback":"[no preview available]","blocks":[{"type":"section",)"
       R"("text":{"type":"mrkdwn","text":"inside"}}]}])",
       "inside"},
      {R"(,"attachments":[{"pretext":"Look:","title":"T"},{"fallback":"plain"}])", "Look: T plain"},
      {R"(,"blocks":[{"type":"header","text":{"type":"plain_text","text":"Head"}},)"
       R"({"type":"rich_text","elements":[{"type":"rich_text_section","elements":)"
       R"([{"type":"text","text":"body"}]}]}])",
       "Head body"},
      {R"(,"attachments":[{"image_url":"https://example.com/a.png"}])",
       "[https://example.com/a.png]"},
  };
  int number = 0;
  for (const Case& one : cases) {
    const std::string ts = fmt::format("17000001{:02}.000100", number++);
    Post(ts, "", one.more);
    EXPECT_THAT(In(Get(fmt::format("{}/messages/{}", kBase, ts)), "message"),
                HasSubstr(fmt::format(R"("summary":"{}")", one.summary)));
  }
  Post(kTs, "words", R"(,"attachments":[{"fallback":"preview"}])");
  EXPECT_THAT(In(Get(kMessage), "message"), Not(HasSubstr("summary")));
}

TEST_F(ArchiveBodiesTest, ALongSummaryIsCutAfterAWholeCharacter) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "ä";
  Post(kTs, "", fmt::format(R"(,"attachments":[{{"text":"{}"}}])", text));
  EXPECT_THAT(Get(kMessage).body, HasSubstr(fmt::format(R"("{}…")", text.substr(0, 500))));
}

// ---- Names ----

// People from other organisations are in none of Slack's lists.
TEST_F(ArchiveBodiesTest, NamesThatCameWithAMessageAreShown) {
  Post(kTs, "<@U1X> is me",
       R"(,"user_team":"T2X","user_profile":{"team":"T2X","name":"ann","real_name":"Ann Berth",)"
       R"("display_name":""})");
  const std::string list = Get(fmt::format("{}/messages", kBase)).body;
  EXPECT_THAT(list, HasSubstr(R"("user_name":"Ann Berth")"));
  EXPECT_THAT(list, HasSubstr(R"("people":{"U1X":"Ann Berth"})"));
  EXPECT_THAT(In(Get(kMessage), "message"), HasSubstr(R"("user_name":"Ann Berth")"));
  // What Slack says about the person is newer.
  Store(R"({"type":"user_change","event_ts":"1700000050.000000","user":{"id":"U1X",)"
        R"("name":"ann","profile":{"display_name":"Ann B."}}})");
  EXPECT_THAT(Get(kMessage).body, HasSubstr(R"("user_name":"Ann B.")"));
  const std::string ts = "1700000090.000100";
  Store(fmt::format(R"({{"type":"message","subtype":"bot_message","channel":"C1X",)"
                    R"("channel_type":"channel","bot_id":"B1X","bot_profile":{{"name":"Builder"}},)"
                    R"("text":"done","ts":"{0}","event_ts":"{0}"}})",
                    ts));
  EXPECT_THAT(Get(fmt::format("{}/messages/{}", kBase, ts)).body,
              HasSubstr(R"("user_name":"Builder")"));
}

// ---- Channels that are not there ----

TEST_F(ArchiveBodiesTest, AnUnknownChannelIsNotFound) {
  Post(kTs, "here");
  const std::string unknown = "/api/v1/teams/T1X/channels/C9X";
  for (const char* const rest : {"", "/messages", "/threads/1700000000.000100", "/coverage"}) {
    const http::Response answer = Get(unknown + rest);
    EXPECT_EQ(answer.status, 404) << rest;
    EXPECT_THAT(answer.body, HasSubstr("/api/v1/teams/T1X/channels lists")) << rest;
  }
  EXPECT_EQ(Get(fmt::format("{}/threads/1700000009.000100", kBase)).status, 404);
}

TEST_F(ArchiveBodiesTest, AKnownChannelWithoutMessagesIsEmpty) {
  Store(R"({"type":"channel_created","channel":{"id":"C2X","name":"new","is_private":false},)"
        R"("event_ts":"1700000000.000000"})");
  const std::string channel = "/api/v1/teams/T1X/channels/C2X";
  EXPECT_EQ(Get(channel + "/messages").body, R"({"messages":[]})");
  EXPECT_EQ(Get(channel + "/coverage").status, 200);
  Post(kTs, "here");
  EXPECT_EQ(Get(fmt::format("{}/messages?from=2030-01-01", kBase)).body, R"({"messages":[]})");
}

}  // namespace
}  // namespace tidemark::testing
