// Events carry copies of other messages. When such a message is deleted and the policy hides or
// removes its text, no answer and no row has a copy of it.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/json.h"
#include "tests/front_door/archive_api_fixture.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRootTs[] = "1700000000.000100";

class CopiesTest : public ArchiveApiTest {
 protected:
  using ArchiveApiTest::ArchiveApiTest;

  void ExpectNoSecretInRows() {
    for (const item::Item& row : door_.Archived()) {
      EXPECT_THAT(item::ToJson(row), Not(HasSubstr("secret")));
    }
  }

  // Each message quotes the root in another way.
  void PostRootAndQuotes() {
    Post(kRootTs, "secret words",
         R"(,"blocks":[{"type":"rich_text","text":"secret words"}],)"
         R"("attachments":[{"text":"secret words"}],"user_profile":{"real_name":"secret name"},)"
         R"("files":[{"id":"F1X","name":"secret.txt"}])");
    const std::string root = fmt::format(
        R"({{"type":"message","user":"U1X","ts":"{}","text":"secret words"}})", kRootTs);
    const std::string link = "https://example.slack.com/archives/C1X/p1700000000000100";
    Quote(
        fmt::format(R"(,"subtype":"thread_broadcast","thread_ts":"{}","root":{})", kRootTs, root));
    Quote(R"(,"attachments":[{"is_share":true,"text":"secret words","fallback":"secret words"}])");
    Quote(R"(,"attachments":[{"is_msg_unfurl":true,"text":"secret words"}])");
    Quote(fmt::format(R"(,"attachments":[{{"from_url":"{}","text":"secret words"}}])", link));
    Quote(fmt::format(R"(,"attachments":[{{"original_url":"{}","text":"secret words"}}])", link));
    Quote(fmt::format(R"(,"attachments":[{{"id":1,"fields":[{{"item":{}}}]}}])", root));
    Quote(fmt::format(R"(,"attachments":[{{"message_blocks":[{{"message":{}}}]}}])", root));
    Quote(fmt::format(R"(,"subtype":"pinned_item","item_type":"C","item":{})", root));
    // Its raw event does not fit into a row.
    Quote(
        fmt::format(R"(,"blocks":["{}"],"attachments":[{{"is_share":true,"text":"secret words"}}])",
                    std::string(450'000, 'x')));
    // Slack adds the preview of a link later, and somebody edits the message after that.
    Quote("");
    Change(fmt::format(R"(,"attachments":[{{"is_msg_unfurl":true,"from_url":"{}",)"
                       R"("text":"secret words"}}])",
                       link),
           "");
    Change(R"(,"attachments":[{"is_msg_unfurl":true,"text":"secret words"}],)"
           R"("edited":{"user":"U2X","ts":"1700000060.000000"})",
           R"(,"attachments":[{"is_msg_unfurl":true,"text":"secret words"}])");
  }
  void DeleteRoot() {
    Store(fmt::format(
        R"({{"type":"message","subtype":"message_deleted","channel":"C1X",)"
        R"("channel_type":"channel","ts":"1700000090.000000","event_ts":"1700000090.000000",)"
        R"("deleted_ts":"{0}","previous_message":{{"type":"message","user":"U1X","ts":"{0}",)"
        R"("text":"secret words"}}}})",
        kRootTs));
  }
  // All that the routes show of the channel.
  std::string AllAnswers() {
    std::string all = Get(std::string(kBase) + "/messages").body;
    for (const std::string& ts : quotes_) {
      all += Get(fmt::format("{}/messages/{}", kBase, ts)).body;
    }
    return all + Get(fmt::format("{}/messages/{}", kBase, kRootTs)).body +
           Get(fmt::format("{}/threads/{}", kBase, kRootTs)).body;
  }

 private:
  void Quote(const std::string& more) {
    quotes_.push_back(fmt::format("17000000{:02}.000100", quotes_.size() + 1));
    Post(quotes_.back(), "look", more);
  }
  // Of the last quote.
  void Change(const std::string& after, const std::string& before) {
    const std::string event_ts = fmt::format("17000000{}.000000", 50 + ++changes_ * 5);
    const auto message = [&](const std::string& more) {
      return fmt::format(R"({{"type":"message","user":"U1X","ts":"{}","text":"look"{}}})",
                         quotes_.back(), more);
    };
    Store(fmt::format(R"({{"type":"message","subtype":"message_changed","channel":"C1X",)"
                      R"("channel_type":"channel","ts":"{0}","event_ts":"{0}","message":{1},)"
                      R"("previous_message":{2}}})",
                      event_ts, message(after), message(before)));
  }

  std::vector<std::string> quotes_;
  int changes_ = 0;
};

class RedactedCopiesTest : public CopiesTest {
 protected:
  RedactedCopiesTest() : CopiesTest({.text = archive::DeletedText::kRedact}) {}
};

// Review: A2
TEST_F(RedactedCopiesTest, NoAnswerHasACopyOfADeletedMessage) {
  PostRootAndQuotes();
  EXPECT_THAT(AllAnswers(), HasSubstr("secret"));
  DeleteRoot();
  EXPECT_THAT(AllAnswers(), Not(HasSubstr("secret")));
}

// A row of an earlier release, before copies were left out.
// Review: A2
TEST_F(RedactedCopiesTest, OldRowsWithCopiesAreShownWithout) {
  Post("1700000001.000100", "look");
  const std::string raw = R"({"type":"message","root":{"ts":"1700000000.000100","text":"secret"}})";
  const std::string object = "slack/T1X/C1X/1700000001.000100/raw-1-1.json";
  ASSERT_TRUE(door_.objects().Put({.key = object, .bytes = raw}));
  ASSERT_TRUE(door_.tables().Put({.table = "SlackArchive",
                                  .item = {{"itemId", "meta#T1X#versions#C1X#1700000001.000100"},
                                           {"timestamp", "1700000000.500000"},
                                           {"type", "version"},
                                           {"team_id", "T1X"},
                                           {"channel_id", "C1X"},
                                           {"ts", "1700000001.000100"},
                                           {"text", "before"},
                                           {"raw_event", raw}}}));
  ASSERT_TRUE(door_.tables().Update(
      {.table = "SlackArchive",
       .key = {{"itemId", "message#T1X#C1X"}, {"timestamp", "1700000001.000100"}},
       .update = "SET raw_event_object = :o REMOVE raw_event",
       .values = {{":o", object}}}));
  const std::string shown = Get(std::string(kBase) + "/messages/1700000001.000100").body;
  EXPECT_THAT(shown, HasSubstr(R"("text":"before")"));
  EXPECT_THAT(shown, HasSubstr(R"("root":{"ts":"1700000000.000100"})"));
  EXPECT_THAT(shown, Not(HasSubstr("secret")));
}

class PurgedCopiesTest : public CopiesTest {
 protected:
  PurgedCopiesTest()
      : CopiesTest({.text = archive::DeletedText::kPurge, .purge_after = std::chrono::seconds(1)}) {
  }
};

// Review: A2
TEST_F(PurgedCopiesTest, NoRowAndNoObjectHasACopyOfADeletedMessage) {
  PostRootAndQuotes();
  DeleteRoot();
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  ExpectNoSecretInRows();
  const auto list = door_.objects().List({});
  ASSERT_TRUE(list.has_value());
  ASSERT_FALSE(list->objects.empty());
  for (const objects::ObjectInfo& info : list->objects) {
    const auto object = door_.objects().Open(info.key).value();
    EXPECT_THAT(object->Read(0, info.size).value(), Not(HasSubstr("secret"))) << info.key;
  }
  EXPECT_THAT(AllAnswers(), Not(HasSubstr("secret")));
}

// Without raw events, blocks and attachments are in attributes of their own.
class RedactedPartsTest : public CopiesTest {
 protected:
  RedactedPartsTest()
      : CopiesTest({.text = archive::DeletedText::kRedact}, {.raw_events = false}) {}
};

// Review: A2
TEST_F(RedactedPartsTest, NoAnswerHasAPartOfADeletedMessage) {
  PostRootAndQuotes();
  EXPECT_THAT(AllAnswers(), HasSubstr(R"("attachments":[{"text":"secret words"}])"));
  EXPECT_THAT(AllAnswers(), HasSubstr("secret name"));
  DeleteRoot();
  EXPECT_THAT(AllAnswers(), Not(HasSubstr("secret")));
}

class PurgedPartsTest : public CopiesTest {
 protected:
  PurgedPartsTest()
      : CopiesTest({.text = archive::DeletedText::kPurge, .purge_after = std::chrono::seconds(1)},
                   {.raw_events = false}) {}
};

// An edit before the deletion leaves an older version, with an attachment of its own.
// Review: A2
TEST_F(PurgedPartsTest, NoRowHasAPartOfADeletedMessage) {
  PostRootAndQuotes();
  Store(fmt::format(
      R"({{"type":"message","subtype":"message_changed","channel":"C1X",)"
      R"("channel_type":"channel","ts":"1700000070.000100","event_ts":"1700000070.000100",)"
      R"("message":{{"type":"message","user":"U1X","ts":"{0}","text":"secret words",)"
      R"("attachments":[{{"text":"secret too"}}],"edited":{{"user":"U1X",)"
      R"("ts":"1700000070.000000"}}}}}})",
      kRootTs));
  EXPECT_THAT(AllAnswers(), HasSubstr("secret too"));
  DeleteRoot();
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  ExpectNoSecretInRows();
  EXPECT_THAT(AllAnswers(), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace tidemark::testing
