// The log line of an operation, as text and as JSON.
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/documents/documents.h"
#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The lines of a write, a read that misses (throttled once), a read that hits, and a read of a
// missing document.
std::vector<std::string> LinesIn(LogFormat format) {
  WriteWorld world;
  std::ostringstream log;
  const Logger logger({.format = format}, world.clock, &log);
  Metrics metrics;
  const auto documents = *Documents::Open({}, &world.tables, &world.objects,
                                          {.clock = world.clock,
                                           .random = world.random,
                                           .sleeper = world.sleeper,
                                           .logger = logger,
                                           .metrics = metrics});
  int calls = 0;
  world.tables.decide = [&](testing::Operation) -> std::optional<testing::Fault> {
    if (++calls > 1) return std::nullopt;
    return testing::Throttled();
  };
  world.Upload({.id = "CHG-2"});
  EXPECT_TRUE(documents->Write(documents->NewContext(), {.document = DocumentOf({.id = "CHG-1"})}));
  EXPECT_TRUE(*ReadNow(*documents, documents->NewContext(), "CHG-2"));
  EXPECT_TRUE(*ReadNow(*documents, documents->NewContext(), "CHG-2"));
  EXPECT_FALSE(*ReadNow(*documents, documents->NewContext(), "CHG-3"));
  std::vector<std::string> lines;
  std::istringstream text(log.str());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The names of the fields are the same in both, so that a search finds both.
// Spec: 002-74
TEST(LogTest, TextLinesHaveTheFieldsOfEachOperation) {
  EXPECT_THAT(LinesIn(LogFormat::kText),
              ElementsAre(HasSubstr("operation=write key=CHG-1 duration_ms=100.0 success=true "
                                    "outcome=ok cache=none retries=1 dry_run=false"),
                          HasSubstr("operation=read key=CHG-2 duration_ms=0.0 success=true "
                                    "outcome=ok cache=miss retries=0"),
                          HasSubstr("operation=read key=CHG-2 duration_ms=0.0 success=true "
                                    "outcome=ok cache=hit retries=0"),
                          HasSubstr("operation=read key=CHG-3 duration_ms=0.0 success=false "
                                    "outcome=not_found cache=miss retries=0")));
}

// Spec: 002-74
TEST(LogTest, JsonLinesHaveTheFieldsOfEachOperationWithTheirTypes) {
  const std::vector<std::string> lines = LinesIn(LogFormat::kJson);
  ASSERT_EQ(lines.size(), 4U);
  for (const std::string& line : lines) {
    const auto json = JsonDocument::Parse(line);
    ASSERT_TRUE(json.has_value()) << line;
    const Json root = json->root();
    EXPECT_EQ(root.Find("message")->AsString(), "documents");
    EXPECT_TRUE(root.Find("operation")->AsString().has_value());
    EXPECT_TRUE(root.Find("duration_ms")->AsDouble().has_value());
    EXPECT_TRUE(root.Find("success")->AsBool().has_value());
    EXPECT_TRUE(root.Find("cache")->AsString().has_value());
    EXPECT_TRUE(root.Find("retries")->AsInt().has_value());
  }
  EXPECT_THAT(lines[0], AllOf(HasSubstr(R"("operation":"write")"), HasSubstr(R"("retries":1)"),
                              HasSubstr(R"("duration_ms":100)")));
  EXPECT_THAT(lines[1], HasSubstr(R"("cache":"miss")"));
  EXPECT_THAT(lines[2], AllOf(HasSubstr(R"("cache":"hit")"), HasSubstr(R"("success":true)")));
  EXPECT_THAT(lines[3], HasSubstr(R"("success":false)"));
}

// Writers that name the version to replace may conflict. That is normal and must not raise an
// alarm.
TEST(LogTest, AConflictIsNotLoggedAsAFailure) {
  WriteWorld world;
  EXPECT_FALSE(world.Write({}, "another").has_value());
  EXPECT_THAT(world.Logged(), AllOf(HasSubstr("info documents operation=write"),
                                    HasSubstr("success=false outcome=conflict")));
  EXPECT_THAT(world.metrics.Expose(), HasSubstr("tidemark_documents_errors_total 0\n"));
}

}  // namespace
}  // namespace tidemark::documents
