// Documents over HTTP: each route, the errors when a version or a store is missing, and that row,
// object and queries agree.
#include "tests/front_door/documents_api.h"

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "http/url.h"
#include "item/attributes.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Spec: 002-09
TEST_F(DocumentsApiTest, ADocumentIsStoredAndComesBackByteForByte) {
  const std::string change = Change("CHG-1");
  const http::Response put = Put("CHG-1", change);
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_THAT(put.body, HasSubstr(R"("changed":true,"cached":true,"dry_run":false)"));
  const http::Response got = Get("/CHG-1");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(got.body, AllOf(HasSubstr(R"("source":"cache","age_ms":)"),
                              HasSubstr("\"document\":" + change + "}")));
  EXPECT_EQ(got.headers.Find("ETag"), put.headers.Find("ETag"));
  EXPECT_EQ(got.headers.Find("ETag"), fmt::format("\"{}\"", TextIn(put, "etag")));
  EXPECT_THAT(Put("CHG-1", change).body, HasSubstr(R"("changed":false)"));
}

TEST_F(DocumentsApiTest, ADocumentThatIsNotInTheCacheIsReadFromTheObjectOnce) {
  Upload("CHG-1", Change("CHG-1"));
  EXPECT_EQ(TextIn(Get("/CHG-1"), "source"), "object");
  EXPECT_EQ(TextIn(Get("/CHG-1"), "source"), "cache");
  const http::Response missing = Get("/CHG-2");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(TextIn(missing, "error"), "not_found");
  EXPECT_THAT(missing.body, HasSubstr(R"("retryable":false)"));
}

TEST_F(DocumentsApiTest, OnlyTheExpectedVersionIsReplaced) {
  const http::Response first = Put("CHG-1", Change("CHG-1"), {{"If-None-Match", "*"}});
  ASSERT_EQ(first.status, 200) << first.body;
  const std::string approved = Change("CHG-1", "approved");
  const http::Response late = Put("CHG-1", approved, {{"If-None-Match", "*"}});
  EXPECT_EQ(late.status, 412);
  EXPECT_THAT(late.body, HasSubstr(R"("retryable":false)"));
  EXPECT_EQ(TextIn(late, "error"), "conflict");
  EXPECT_EQ(Put("CHG-1", approved, {{"If-Match", "\"another\""}}).status, 412);
  const std::string tag(*first.headers.Find("ETag"));
  EXPECT_EQ(Put("CHG-1", approved, {{"If-Match", tag}}).status, 200);
  EXPECT_EQ(Put("CHG-1", Change("CHG-1", "completed"), {{"If-Match", tag}}).status, 412);
  const std::string expecting = "CHG-1?expected_etag=";
  EXPECT_EQ(Put(expecting + TextIn(first, "etag"), approved).status, 412);
  EXPECT_EQ(Put(expecting, approved).status, 412);
  EXPECT_EQ(Put(expecting + TextIn(Get("/CHG-1"), "etag"), Change("CHG-1", "completed")).status,
            200);
}

// Spec: 002-10
TEST_F(DocumentsApiTest, OnlyDraftsAndCancelledDocumentsCanBeDeleted) {
  Put("CHG-1", Change("CHG-1"));
  EXPECT_EQ(Delete("CHG-1").status, 400);
  Put("CHG-1", Change("CHG-1", "cancelled"));
  EXPECT_EQ(Delete("CHG-1?expected_etag=another").status, 412);
  EXPECT_EQ(Delete("CHG-1").status, 200);
  EXPECT_EQ(Get("/CHG-1").status, 404);
  EXPECT_FALSE(door_.objects().Head("archive/CHG-1.json").value());
  for (const std::string id : {"CHG-1", "never-there"}) {
    const http::Response again = Delete(id);
    EXPECT_EQ(again.status, 200);
    EXPECT_THAT(again.body, HasSubstr(R"("changed":false)"));
  }
}

TEST_F(DocumentsApiTest, MistakesAreNamed) {
  EXPECT_THAT(Put("CHG-1", Change("CHG-2")).body, HasSubstr("but the path names 'CHG-1'"));
  EXPECT_EQ(Put("CHG-1", "no JSON").status, 400);
  EXPECT_THAT(Put("CHG-1?expect=1", Change("CHG-1")).body, HasSubstr("no parameter 'expect'"));
  EXPECT_EQ(Put("CHG-1", Change("CHG-1"), {{"If-Match", "bare"}}).status, 400);
  EXPECT_EQ(Put("CHG-1", Change("CHG-1"), {{"If-None-Match", "\"a\""}}).status, 400);
  EXPECT_THAT(Put("CHG-1?expected_etag=a", Change("CHG-1"), {{"If-Match", "\"a\""}}).body,
              HasSubstr("given twice"));
  EXPECT_EQ(Get("/~coverage").status, 400);
  EXPECT_THAT(Get("?size=1").body, HasSubstr("no parameter 'size'"));
  EXPECT_EQ(Get("?limit=0").status, 400);
  EXPECT_EQ(Get("?from=yesterday").status, 400);
  EXPECT_EQ(Get("?from=1700000001&to=1700000000").status, 400);
  EXPECT_EQ(Get("?status=lost").status, 400);
  EXPECT_EQ(Get("?type=song").status, 400);
  EXPECT_EQ(Get("?cursor=x").status, 400);
  EXPECT_EQ(Get("?beyond=x").status, 400);
  EXPECT_EQ(door_.CallWithoutToken(Method::kGet, kDocumentsPath).status, 401);
}

// Spec: 002-14
TEST_F(DocumentsApiTest, ARangeAppliesAllFiltersOfTheRequest) {
  Put("CHG-1", Change("CHG-1", "submitted", 100));
  Put("CHG-2", Change("CHG-2", "approved", 90, R"("hts","cds")"));
  Put("CHG-3", Change("CHG-3", "approved", 80, R"("cds")"));
  Put("FIN-1", Announcement("FIN-1"));
  EXPECT_EQ(IdsIn(Get("")), "CHG-1 CHG-2 CHG-3 FIN-1");
  EXPECT_EQ(IdsIn(Get("?type=change")), "CHG-1 CHG-2 CHG-3");
  EXPECT_EQ(IdsIn(Get("?type=announcement")), "FIN-1");
  EXPECT_EQ(IdsIn(Get("?customer=cds")), "CHG-2 CHG-3 FIN-1");
  EXPECT_EQ(IdsIn(Get("?status=approved")), "CHG-2 CHG-3 FIN-1");
  EXPECT_EQ(IdsIn(Get("?type=change&customer=cds&status=approved")), "CHG-2 CHG-3");
  EXPECT_EQ(IdsIn(Get(fmt::format("?from={}&to={}", now_ - 95, now_ - 80))), "CHG-2 CHG-3");
  // Both ends belong to the range.
  EXPECT_EQ(IdsIn(Get(fmt::format("?from={}&to={}", now_ - 90, now_ - 90))), "CHG-2");
  EXPECT_EQ(IdsIn(Get("?to=2001-12-31")), "");
}

TEST_F(DocumentsApiTest, AllPagesTogetherHaveEveryDocumentOnce) {
  for (int i = 1; i <= 5; ++i) {
    const std::string id = fmt::format("CHG-{}", i);
    Put(id, Change(id, "submitted", /*seconds_ago=*/i < 4 ? 100 : 50));
  }
  for (const std::string filter : {"?limit=2&beyond=flag", "?limit=2", "?limit=2&customer=hts"}) {
    std::string pages;
    http::Response page = Get(filter);
    for (int i = 0; i < 5 && page.body.find("\"cursor\"") != std::string::npos; ++i) {
      pages += IdsIn(page) + "|";
      page = Get(filter + "&cursor=" + TextIn(page, "cursor"));
    }
    EXPECT_EQ(pages + IdsIn(page), "CHG-1 CHG-2|CHG-3 CHG-4|CHG-5") << filter;
  }
}

// A caller that needs all documents can see whether the reply is complete.
TEST_F(DocumentsApiTest, ARangeSaysWhetherItIsCompleteAndFromWhichStoreItIs) {
  Upload("CHG-1", Change("CHG-1"));
  const http::Response flagged = Get("?beyond=flag");
  EXPECT_EQ(IdsIn(flagged), "");
  EXPECT_THAT(flagged.body, AllOf(HasSubstr(R"("coverage":{"complete":false)"),
                                  HasSubstr(R"("searched_objects":false)")));
  const http::Response searched = Get("");
  EXPECT_EQ(IdsIn(searched), "CHG-1");
  EXPECT_THAT(searched.body, AllOf(HasSubstr(R"("coverage":{"complete":true)"),
                                   HasSubstr(R"("searched_objects":true)")));
}

TEST_F(DocumentsApiTest, EventsOfAwsAndMinioUpdateTheCache) {
  Upload("CHG 1", Change("CHG 1"));
  Upload("CHG-2", Change("CHG-2"));
  const http::Response aws = Tell(fmt::format(R"({{"Records":[{},{}]}})",
                                              RecordOf("ObjectCreated:Put", "archive/CHG+1.json"),
                                              RecordOf("ObjectCreated:Put", "drafts/CHG-9.json")));
  EXPECT_EQ(aws.status, 200);
  EXPECT_THAT(aws.body, AllOf(HasSubstr(R"({"key":"archive/CHG 1.json","fate":"synced"})"),
                              HasSubstr(R"("key":"drafts/CHG-9.json","fate":"ignored")"),
                              HasSubstr(R"("retry":false)")));
  const http::Response minio =
      Tell(fmt::format(R"({{"EventName":"s3:ObjectCreated:Put",)"
                       R"("Key":"ccoe-change-metadata/archive/CHG-2.json","Records":[{}]}})",
                       RecordOf("s3:ObjectCreated:Put", "archive%2FCHG-2.json")));
  EXPECT_THAT(minio.body, HasSubstr(R"({"key":"archive/CHG-2.json","fate":"synced"})"));
  EXPECT_EQ(TextIn(Get("/CHG%201"), "source"), "cache");
  EXPECT_EQ(IdsIn(Get("?beyond=flag")), "CHG 1 CHG-2");
}

// Review: D7
// Review: D10
// The sender must not take it for handled, and is not asked to send it again.
TEST_F(DocumentsApiTest, WhatIsNotUnderstoodIsRefused) {
  EXPECT_EQ(Tell(R"({"Service":"Amazon S3","Event":"s3:TestEvent"})").status, 200);
  EXPECT_EQ(Tell(R"({"Type":"SubscriptionConfirmation"})").status, 400);
  EXPECT_EQ(
      Tell(fmt::format(R"({{"Records":[{}]}})", RecordOf("ObjectCreated:Put", "archive/%FF.json")))
          .status,
      400);
  EXPECT_EQ(Get("/%ff").status, 400);
  const http::Response garbage = Tell("garbage");
  EXPECT_EQ(garbage.status, 400);
  EXPECT_THAT(garbage.body, HasSubstr(R"("fate":"dropped")"));
}

// Callers choose the ids, so no route may hide an id.
TEST_F(DocumentsApiTest, ADocumentMayHaveTheNameOfARouteAsItsId) {
  for (const std::string id : {"events", "fsck", "backfill", "stats"}) {
    ASSERT_EQ(Put(id, Change(id)).status, 200) << id;
    EXPECT_EQ(TextIn(Get("/" + id), "id"), id);
  }
}

// Documents may be larger than the bodies of other routes.
TEST_F(DocumentsApiTest, AcceptsALargeDocumentAndRefusesOtherLargeBodies) {
  std::string large = Change("CHG-1");
  large.insert(large.size() - 1, R"(,"notes":")" + std::string(2 << 20, 'x') + "\"");
  const http::Response put = Put("CHG-1", large);
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_THAT(put.body, HasSubstr(R"("changed":true)"));
  EXPECT_TRUE(Get("/CHG-1").body.ends_with(large + "}"));
  const std::string elsewhere = kCachePath + std::string("/fsck");
  EXPECT_EQ(door_.Call(Method::kPost, elsewhere, std::string(2 << 20, ' ')).status, 413);
}

// After the backfill, ranges find the documents in the cache alone.
TEST_F(DocumentsApiTest, BackfillPutsTheRequestedDocumentsIntoTheCache) {
  Upload("CHG-1", Change("CHG-1", "submitted", 100, R"("hts")"));
  Upload("CHG-2", Change("CHG-2", "submitted", 90, R"("hts","cds")"));
  EXPECT_THAT(RunAll("backfill", "dry_run=true").body, HasSubstr(R"("cached":2,)"));
  EXPECT_EQ(IdsIn(Get("?beyond=flag")), "");
  const http::Response some = RunAll("backfill", "customer=cds&since=1000000000");
  EXPECT_THAT(some.body, AllOf(HasSubstr(R"("cached":1,"unchanged":0,"skipped":1)"),
                               HasSubstr(R"("finished":true,"marked":false)")));
  EXPECT_EQ(IdsIn(Get("?beyond=flag")), "CHG-2");
  EXPECT_THAT(
      RunAll("backfill", "").body,
      AllOf(HasSubstr(R"("checked":2,"cached":1,"unchanged":1)"), HasSubstr(R"("marked":true)")));
  EXPECT_THAT(Get("?beyond=flag").body, HasSubstr(R"("coverage":{"complete":true)"));
}

TEST_F(DocumentsApiTest, FsckReportsDifferencesAndRepairsThemExceptInADryRun) {
  Put("CHG-1", Change("CHG-1"));
  Upload("CHG-1", Change("CHG-1", "approved"));
  const http::Response dry = RunAll("fsck", "dry_run=true");
  EXPECT_THAT(dry.body, AllOf(HasSubstr(R"("checked":1,"equal":0,"repaired":0)"),
                              HasSubstr(R"("differing":1)"),
                              HasSubstr(R"([{"id":"CHG-1","what":"the row has version )")));
  EXPECT_EQ(IdsIn(Get("?status=approved&beyond=flag")), "");
  EXPECT_THAT(RunAll("fsck", "").body,
              AllOf(HasSubstr(R"("repaired":1,"in_flight":0,"differing":0)"),
                    HasSubstr(R"("repaired":true}],"finished":true,"marked":true})")));
  EXPECT_EQ(IdsIn(Get("?status=approved&beyond=flag")), "CHG-1");
}

TEST_F(DocumentsApiTest, TheStatusOfTheCacheCanBeRead) {
  Put("CHG-1", Change("CHG-1", "submitted", 60, R"("hts","cds")"));
  Get("/CHG-1");
  const http::Response stats = door_.Call(Method::kGet, kCachePath);
  EXPECT_THAT(stats.body,
              AllOf(HasSubstr(R"({"items":2,"size_bytes":)"),
                    HasSubstr(R"("first_writes":0,"repairs":0,"compared":true,"since_start":{)"),
                    HasSubstr(R"("hits":1,"misses":0,"errors":0,"throttled":0})")));
  RunAll("backfill", "");
  EXPECT_THAT(door_.Call(Method::kGet, kCachePath).body, HasSubstr(R"("complete_from":)"));
}

TEST_F(DocumentsApiTest, TheAnswerNamesAWrongFieldOfARun) {
  for (const std::string query : {"limit=1", "dry_run=1", "since=yesterday", "checkpoint=x",
                                  "checkpoint=,,drafts/x", "since=2&until=1"}) {
    EXPECT_EQ(RunAll("fsck", query).status, 400) << query;
    EXPECT_EQ(RunAll("backfill", query).status, 400) << query;
  }
  EXPECT_EQ(door_.CallWithoutToken(Method::kPost, kCachePath + std::string("/fsck")).status, 401);
}

// Events that may succeed later are sent again; events that are not about a document are not.
class ImpatientDocumentsApiTest : public DocumentsApiTest {
 protected:
  // The deadline is shorter than the first retry wait after a network error.
  ImpatientDocumentsApiTest()
      : DocumentsApiTest([](api::ServiceOptions* options) {
          options->documents.emplace().deadline = std::chrono::milliseconds(900);
        }) {}
};

TEST_F(ImpatientDocumentsApiTest, AFailedRecordIsAnsweredSoThatItIsSentAgain) {
  Upload("CHG-1", Change("CHG-1"));
  door_.faults().decide = [](Operation) { return LostRequest(); };
  const http::Response failed = Tell(
      fmt::format(R"({{"Records":[{},{}]}})", RecordOf("ObjectCreated:Put", "archive/CHG-1.json"),
                  RecordOf("ObjectCreated:Put", "drafts/CHG-1.json")));
  EXPECT_EQ(failed.status, 503) << failed.body;
  EXPECT_THAT(failed.body, AllOf(HasSubstr(R"({"key":"archive/CHG-1.json","fate":"failed")"),
                                 HasSubstr(R"({"key":"drafts/CHG-1.json","fate":"ignored")"),
                                 HasSubstr(R"("retry":true)")));
  door_.faults().decide = nullptr;
}

// The five error types of the seed: each has its name, a message with the words of the store, and
// says whether a retry may help.
// Spec: 002-62
TEST_F(ImpatientDocumentsApiTest, ErrorsHaveTheTypesOfTheSeed) {
  const auto expect = [](const http::Response& response, int status, const std::string& type,
                         bool retryable, const std::string& detail) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(TextIn(response, "error"), type);
    EXPECT_THAT(response.body, HasSubstr(fmt::format(R"("retryable":{})", retryable)));
    EXPECT_THAT(TextIn(response, "detail"), HasSubstr(detail));
  };
  expect(Get("/CHG-1"), 404, "not_found", false, "there is no document 'CHG-1'");
  expect(Get("/~coverage"), 400, "validation", false, "begins with '~'");
  struct Case {
    Fault fault;
    std::string type;
    bool retryable;
  };
  for (const Case& c : {Case{Throttled(), "throttling", true}, Case{LostRequest(), "network", true},
                        Case{Denied(), "unavailable", false}}) {
    door_.faults().decide = [&](Operation) { return c.fault; };
    expect(Put("CHG-1", Change("CHG-1")), 503, c.type, c.retryable,
           "the table: reading a row: " + c.fault.error.message);
  }
  door_.faults().decide = nullptr;
}

// Nothing that is not a document reaches a store.
// Spec: 002-06
TEST_F(DocumentsApiTest, RefusesWhatIsNotADocument) {
  const std::string valid = Change("CHG-1");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string json = valid;
    return json.replace(json.find(from), from.size(), to);
  };
  const std::string created_at = fmt::format(R"("createdAt":{})", now_ - 60);
  for (const std::string& json :
       {std::string(), std::string("{}"), with(R"("CHG-1")", R"("")"),
        with(R"("change",)", R"("incident",)"), with(created_at, R"("createdAt":0)"),
        with("," + created_at, ""), with(R"("status")", R"("metadata":{"a":1},"status")")}) {
    EXPECT_EQ(Put("CHG-1", json).status, 400) << json;
  }
  EXPECT_FALSE(door_.objects().Head("archive/CHG-1.json").value());
  EXPECT_EQ(Put("CHG-1", valid).status, 200);
}

class DryRunDocumentsApiTest : public DocumentsApiTest {
 protected:
  DryRunDocumentsApiTest()
      : DocumentsApiTest(
            [](api::ServiceOptions* options) { options->documents.emplace().dry_run = true; }) {}
};

// Spec: 002-13, 002-35
TEST_F(DryRunDocumentsApiTest, LogsWritesChangesNothingAndReads) {
  Upload("CHG-1", Change("CHG-1", "draft"));
  EXPECT_THAT(Put("CHG-2", Change("CHG-2")).body, HasSubstr(R"("dry_run":true)"));
  EXPECT_THAT(Delete("CHG-1").body, HasSubstr(R"("dry_run":true)"));
  EXPECT_FALSE(door_.objects().Head("archive/CHG-2.json").value());
  EXPECT_EQ(Get("/CHG-2").status, 404);
  EXPECT_THAT(Get("/CHG-1").body, HasSubstr(Change("CHG-1", "draft")));
  EXPECT_THAT(door_.log(), AllOf(HasSubstr(R"((dry run) operation="write row" key=CHG-2)"),
                                 HasSubstr(R"((dry run) operation="delete row" key=CHG-1)")));
}

TEST_F(DocumentsApiTest, WithoutTheTableReadsSucceedAndWritesAreRefused) {
  Put("CHG-1", Change("CHG-1"));
  door_.faults().decide = [](Operation) { return Denied(); };
  EXPECT_EQ(TextIn(Get("/CHG-1"), "source"), "object");
  EXPECT_THAT(Get("").body, HasSubstr(R"("cache_was_away":true)"));
  const http::Response refused = Put("CHG-2", Change("CHG-2"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(TextIn(refused, "error"), "unavailable");
  door_.faults().decide = nullptr;
  EXPECT_FALSE(door_.objects().Head("archive/CHG-2.json").value());
}

// Spec: 002-79
TEST_F(DocumentsApiTest, RowObjectAndQueriesAgree) {
  const std::string change = Change("CHG-1", "submitted", 60, R"("hts","cds")");
  const http::Response put = Put("CHG-1", change);
  const auto row =
      door_.tables().Get({.table = kDocumentsTable, .key = {{"object_id", "CHG-1"}}}).value();
  ASSERT_TRUE(row);
  EXPECT_EQ(item::TextIn(*row, "document_json"), change);
  EXPECT_EQ(item::TextIn(*row, "s3_etag"), TextIn(put, "etag"));
  const auto object = door_.objects().Open("archive/CHG-1.json").value();
  ASSERT_TRUE(object);
  EXPECT_EQ(object->Read(0, change.size() + 1).value(), change);
  EXPECT_EQ(object->info().etag, TextIn(put, "etag"));
  for (const char* query : {"", "?customer=hts", "?customer=cds", "?status=submitted"}) {
    EXPECT_THAT(Get(query).body, HasSubstr("{\"documents\":[" + change + "],")) << query;
  }
}

// The note of a writer that could not reach the table.
TEST_F(DocumentsApiTest, RowsWithANoteAreRepairedInTheBackground) {
  Upload("CHG-1", Change("CHG-1"));
  ASSERT_TRUE(door_.objects().Put({.key = "cache-repairs/CHG-1", .bytes = "1"}));
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  EXPECT_EQ(TextIn(Get("/CHG-1"), "source"), "cache");
  EXPECT_FALSE(door_.objects().Head("cache-repairs/CHG-1").value());
}

// The staleness of the cache is measured in the background.
TEST_F(DocumentsApiTest, DocumentsAreSampledInTheBackground) {
  Put("CHG-1", Change("CHG-1"));
  Upload("CHG-1", Change("CHG-1", "approved"));
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  EXPECT_THAT(door_.Call(Method::kGet, "/metrics").body,
              AllOf(HasSubstr("tidemark_documents_staleness_sampled_total{verified=\"hour\"} 1\n"),
                    HasSubstr("tidemark_documents_staleness_stale_total{verified=\"hour\"} 1\n"),
                    HasSubstr("tidemark_documents_stale_share 1\n")));
}

// A server that does not use documents has neither their table nor their routes.
// An expired row is not served: the object answers, and when it is gone there is no document. The
// sweeper removes the row, and the object stays.
// Spec: 002-11, 002-73
TEST_F(DocumentsApiTest, AnExpiredRowIsNotServedAndItsObjectStays) {
  const std::string path = "archive/CHG-1.json";
  const auto expire = [&] {
    item::Item row =
        *door_.tables().Get({.table = kDocumentsTable, .key = {{"object_id", "CHG-1"}}}).value();
    row.Set("ttl", item::Number::FromInt(now_ - 1));
    ASSERT_TRUE(door_.tables().Put({.table = kDocumentsTable, .item = row}).has_value());
  };
  ASSERT_EQ(Put("CHG-1", Change("CHG-1")).status, 200);
  EXPECT_EQ(TextIn(Get("/CHG-1"), "source"), "cache");
  EXPECT_EQ(IdsIn(Get("?beyond=flag")), "CHG-1");
  expire();
  EXPECT_EQ(IdsIn(Get("?beyond=flag")), "");
  EXPECT_TRUE(door_.tables().Maintain().has_value());
  EXPECT_FALSE(
      door_.tables().Get({.table = kDocumentsTable, .key = {{"object_id", "CHG-1"}}}).value());
  EXPECT_TRUE(door_.objects().Head(path).value());
  EXPECT_EQ(TextIn(Get("/CHG-1"), "source"), "object");
  expire();
  ASSERT_TRUE(door_.objects().Delete({.key = path}).has_value());
  const http::Response missing = Get("/CHG-1");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr(R"("retryable":false)"));
}

TEST(DocumentsOffTest, ThereIsNoTableAndNoRouteByDefault) {
  FrontDoor door;
  EXPECT_EQ(door.Call(Method::kGet, kDocumentsPath).status, 404);
  EXPECT_FALSE(door.tables().DescribeTable(kDocumentsTable).has_value());
}

}  // namespace
}  // namespace tidemark::testing
