#include "servers/api/service_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs/program_settings.h"

namespace tidemark::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Without the archive, unless the flags say otherwise.
Result<ServiceOptions> Read(std::map<std::string, std::string> flags,
                            Environment environment = {}) {
  flags.emplace("archive.enabled", "false");
  const auto settings = Settings::Load(programs::ProgramSettings(),
                                       {.environment = std::move(environment), .flags = flags});
  if (!settings) return settings.error();
  return ReadOptions(*settings);
}

std::string ErrorOf(std::map<std::string, std::string> flags) {
  const auto options = Read(std::move(flags));
  return options ? "read" : options.error().message;
}

TEST(ServiceOptionsTest, DefaultsAreTheSeedsTablesAndTheStrictPolicies) {
  const ServiceOptions options = Read({}).value();
  EXPECT_EQ(options.existence.table, "slack-existence-check-cache");
  EXPECT_EQ(options.claims.table, "slack-classify-bot-processed-events");
  EXPECT_EQ(options.claims.window, std::chrono::hours(6));
  EXPECT_EQ(options.existence.missing_token, gate::MissingToken::kRefuse);
  EXPECT_EQ(options.unknown, gate::UnknownPolicy::kAcknowledge);
  EXPECT_TRUE(options.signing_secrets.empty());
  EXPECT_FALSE(options.bot_token);
}

// An app that is off for a while keeps its rows, and callers of the API may not change them.
TEST(ServiceOptionsTest, NamesTheTablesOfAppsThatAreOff) {
  const ServiceOptions options = Read({{"attempts.enabled", "false"}}).value();
  EXPECT_FALSE(options.attempts);
  EXPECT_THAT(options.app_tables, UnorderedElementsAre("SlackArchive", "authentication-attempts",
                                                       "ccoe-customer-contact-manager-cache"));
}

// The names that the seeds' own code reads.
TEST(ServiceOptionsTest, ReadsTheVariablesOfTheSeed) {
  const ServiceOptions options = Read({}, {{"DEDUP_TABLE_NAME", "events"},
                                           {"EXISTENCE_CHECK_CACHE_TABLE", "existence"},
                                           {"SLACK_SIGNING_SECRET", "s"},
                                           {"SLACK_BOT_TOKEN", "xoxb-1"}})
                                     .value();
  EXPECT_EQ(options.claims.table, "events");
  EXPECT_EQ(options.existence.table, "existence");
  EXPECT_EQ(options.signing_secrets.front().value.Reveal(), "s");
  EXPECT_EQ(options.bot_token->Reveal(), "xoxb-1");
}

// Review: F15
TEST(ServiceOptionsTest, ReadsATokenForEachTeam) {
  const auto tokens =
      Read({}, {{"TIDEMARK_SLACK_BOT_TOKENS", "T01=xoxb-1, T02=xoxb-2"}}).value().team_tokens;
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens.at(slack::TeamId::Parse("T02").value()).Reveal(), "xoxb-2");
  for (const char* wrong : {"xoxb-1", "T01=secret", "t01=xoxb-1", "T01=xoxb-1,T01=xoxb-2"}) {
    const auto refused = Read({}, {{"TIDEMARK_SLACK_BOT_TOKENS", wrong}});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().message.find("xoxb-1"), std::string::npos) << wrong;
  }
}

TEST(ServiceOptionsTest, UsesBothSigningSecretsDuringARotation) {
  const ServiceOptions options =
      Read({}, {{"SLACK_SIGNING_SECRET", "new"}, {"TIDEMARK_SLACK_PREVIOUS_SIGNING_SECRET", "old"}})
          .value();
  ASSERT_EQ(options.signing_secrets.size(), 2u);
  EXPECT_EQ(options.signing_secrets[1].value.Reveal(), "old");
}

// Slack waits 3 s: a check that may take longer loses events.
TEST(ServiceOptionsTest, RefusesADeadlineBeyondWhatSlackWaits) {
  EXPECT_THAT(ErrorOf({{"gate.deadline", "3s"}}), HasSubstr("gate.deadline"));
  EXPECT_EQ(ErrorOf({{"gate.deadline", "2800ms"}}), "read");
}

TEST(ServiceOptionsTest, RefusesAWindowShorterThanSlacksRetries) {
  EXPECT_THAT(ErrorOf({{"dedup.window", "5m"}}), HasSubstr("dedup.window"));
}

TEST(ServiceOptionsTest, RefusesAPublicAddressWithoutTls) {
  EXPECT_THAT(ErrorOf({{"listen", "0.0.0.0:80"}}), HasSubstr("TLS is not configured"));
  EXPECT_EQ(ErrorOf({{"listen", "0.0.0.0:80"}, {"listen-plainly", "true"}}), "read");
  EXPECT_EQ(ErrorOf({{"listen", "[::1]:80"}}), "read");
  EXPECT_EQ(
      ErrorOf({{"listen", "0.0.0.0:443"}, {"tls.certificate", "c.pem"}, {"tls.key", "k.pem"}}),
      "read");
  EXPECT_THAT(ErrorOf({{"tls.certificate", "c.pem"}}), HasSubstr("must be set together"));
}

// Review: F13
TEST(ServiceOptionsTest, RefusesAnAddressOfSlackThatWouldLeakTheToken) {
  EXPECT_THAT(ErrorOf({{"slack.api-url", "ftp://x"}}), HasSubstr("slack.api-url"));
  EXPECT_THAT(ErrorOf({{"slack.api-url", "slack.com/api"}}), HasSubstr("slack.api-url"));
  EXPECT_THAT(ErrorOf({{"slack.api-url", "http://slack.com/api"}}), HasSubstr("without TLS"));
  EXPECT_THAT(ErrorOf({{"slack.api-url", "http://127.0.0.1.example.com/api"}}),
              HasSubstr("without TLS"));
  for (const char* url : {"https://slack.com/api", "http://127.0.0.1:4/api", "http://[::1]:4/api",
                          "http://localhost:4/api"}) {
    EXPECT_EQ(ErrorOf({{"slack.api-url", url}}), "read") << url;
  }
}

// Review: F13
TEST(ServiceOptionsTest, RefusesAReceiverOfWorkThatIsNotAUrl) {
  EXPECT_THAT(ErrorOf({{"work.url", "notaurl-canary"}}),
              AllOf(HasSubstr("work.url"), Not(HasSubstr("canary"))));
  EXPECT_THAT(ErrorOf({{"work.url", "ftp://x"}}), HasSubstr("work.url"));
  EXPECT_EQ(ErrorOf({{"work.url", "http://bot.internal/work"}}), "read");
}

// Review: F13
TEST(ServiceOptionsTest, RefusesATextThatIsNotABotToken) {
  for (const char* token : {"canary", "Bearer xoxb-canary", "xoxb-canary xoxb-1"}) {
    EXPECT_THAT(ErrorOf({{"slack.bot-token", token}}),
                AllOf(HasSubstr("slack.bot-token"), Not(HasSubstr("canary"))));
  }
  EXPECT_EQ(ErrorOf({{"slack.bot-token", "xoxe.xoxb-1-abc"}}), "read");
}

// Review: F14
TEST(ServiceOptionsTest, WritesDurationsAsSettingsDo) {
  EXPECT_THAT(ErrorOf({{"dedup.window", "31d"}}), HasSubstr("between 10m and 30d, not 31d"));
  EXPECT_THAT(ErrorOf({{"gate.deadline", "2900ms"}}), HasSubstr("100ms and 2800ms, not 2900ms"));
}

TEST(ServiceOptionsTest, TheCacheCanBeTurnedOff) {
  EXPECT_EQ(Read({{"gate.table", "off"}})->existence.table, "");
}

TEST(ServiceOptionsTest, SplitsListsOfChannelsAtCommas) {
  const ServiceOptions options = Read({{"work.task-channels", "C1, C2,,C3"}}).value();
  EXPECT_THAT(options.work.task_channels, ElementsAre("C1", "C2", "C3"));
}

TEST(ServiceOptionsTest, RefusesTwoPlacesForTheBotToken) {
  EXPECT_THAT(ErrorOf({{"slack.bot-token", "xoxb-1"}, {"slack.token-file", "tokens.json"}}),
              HasSubstr("are both set"));
  const ServiceOptions rotated = Read({{"slack.token-file", "tokens.json"},
                                       {"slack.client-id", "1.2"},
                                       {"slack.client-secret", "s"}})
                                     .value();
  EXPECT_FALSE(rotated.bot_token);
  EXPECT_EQ(rotated.rotation->file, "tokens.json");
  EXPECT_EQ(rotated.rotation->client_id, "1.2");
}

// Spec: 001-72
TEST(ServiceOptionsTest, TheArchiveRequiresConsent) {
  EXPECT_THAT(ErrorOf({{"archive.enabled", "true"}, {"slack.signing-secret", "s"}}),
              AllOf(HasSubstr("archive.consent"), HasSubstr("agreed")));
  EXPECT_TRUE(Read({{"archive.enabled", "true"}, {"archive.consent", "true"}})->archive);
  EXPECT_FALSE(Read({{"archive.enabled", "false"}})->archive);
}

// Nothing can be archived without the secret, so there is nothing to agree to.
// Review: T18
TEST(ServiceOptionsTest, NeedsNoConsentWithoutASigningSecret) {
  const ServiceOptions options = Read({{"archive.enabled", "true"}}).value();
  EXPECT_FALSE(options.archive);
  EXPECT_TRUE(options.attempts);
}

TEST(ServiceOptionsTest, ReadsTheSettingsOfTheArchive) {
  const ServiceOptions options = Read({{"archive.enabled", "true"},
                                       {"archive.consent", "true"},
                                       {"archive.table", "History"},
                                       {"archive.raw-events", "false"},
                                       {"archive.deleted", "purge"},
                                       {"archive.purge-after", "2d"},
                                       {"archive.shard-bytes", "2048"},
                                       {"archive.file-origins", "http://127.0.0.1:1, http://b:2"},
                                       {"archive.file-attempts", "5"},
                                       {"data", "here"}})
                                     .value();
  EXPECT_EQ(options.archive->archive.table, "History");
  EXPECT_EQ(options.archive->files.table, "History");
  EXPECT_EQ(options.archive->index.table, "History");
  EXPECT_FALSE(options.archive->archive.raw_events);
  EXPECT_EQ(options.archive->deleted.text, archive::DeletedText::kPurge);
  EXPECT_EQ(options.archive->deleted.purge_after, std::chrono::hours(48));
  EXPECT_EQ(options.archive->index.shard_bytes, 2048U);
  EXPECT_EQ(options.archive->files.max_attempts, 5U);
  EXPECT_EQ(options.archive->files.parallel, 4U);
  EXPECT_EQ(options.archive->files.min_free_bytes, 1U << 30);
  EXPECT_EQ(options.archive->download.max_bytes, 1'100'000'000U);
  EXPECT_EQ(options.archive->files.spool, "here/spool");
  EXPECT_THAT(options.archive->download.origins, ElementsAre("http://127.0.0.1:1", "http://b:2"));
  EXPECT_THAT(ErrorOf({{"archive.enabled", "true"},
                       {"archive.consent", "true"},
                       {"archive.shard-bytes", "500000"}}),
              HasSubstr("archive.shard-bytes must be between"));
}

TEST(ServiceOptionsTest, ReadsTheSettingsOfAttempts) {
  const ServiceOptions options =
      Read({{"attempts.table", "tries"}, {"attempts.email-key", "k"}}).value();
  EXPECT_EQ(options.attempts->table, "tries");
  EXPECT_EQ(options.attempts->email_key.Reveal(), "k");
  EXPECT_EQ(options.attempts->policy.ceiling(), 100u);
  EXPECT_FALSE(Read({{"attempts.enabled", "false"}})->attempts);
  EXPECT_THAT(ErrorOf({{"attempts.policy", "no/such.json"}}), HasSubstr("no/such.json"));
}

// Documents are off by default: then the server creates no table for them.
TEST(ServiceOptionsTest, ReadsTheSettingsOfDocuments) {
  EXPECT_FALSE(Read({})->documents);
  const ServiceOptions options =
      Read({{"documents.enabled", "true"}, {"documents.table", "cached"}}).value();
  EXPECT_EQ(options.documents->table, "cached");
  EXPECT_THAT(ErrorOf({{"documents.enabled", "true"}, {"documents.rate", "0"}}),
              HasSubstr("documents.rate"));
}

// The server must not start with a policy under which guessing is likely to succeed.
TEST(ServiceOptionsTest, RefusesAPolicyThatMakesGuessingLikely) {
  EXPECT_THAT(ErrorOf({{"attempts.max-yearly-odds", "0.001"}}),
              AllOf(HasSubstr("attempts.max-yearly-odds"), HasSubstr("MFA_CODE_ENTRY")));
  EXPECT_EQ(ErrorOf({{"attempts.max-yearly-odds", "0.04"}}), "read");
  EXPECT_THAT(ErrorOf({{"attempts.max-odds", "0.00005"}}),
              AllOf(HasSubstr("attempts.max-odds"), HasSubstr("MFA_CODE_ENTRY")));
  EXPECT_EQ(ErrorOf({{"attempts.max-odds", "0.0001"}}), "read");
  EXPECT_EQ(ErrorOf({{"attempts.max-yearly-odds", "0"}, {"attempts.enabled", "false"}}), "read");
  EXPECT_THAT(ErrorOf({{"attempts.max-yearly-odds", "1.5"}}), HasSubstr("between 0 and 1"));
}

}  // namespace
}  // namespace tidemark::api
