// What every test of documents needs: options, tables and objects that can fail on request, a clock
// that the test moves, waits that take no time, and the lines that were logged. The tables are the
// model unless a test makes others. The table exists and is empty; it is 2025-10-17.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/row_encoding.h"
#include "apps/documents/row_store.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/rate_limiter.h"
#include "base/runtime.h"
#include "item/attributes.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_objects.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/memory_objects.h"

namespace tidemark::documents {

inline constexpr EpochSeconds kToday = 1'760'659'200;  // 2025-10-17T00:00:00Z
inline constexpr EpochSeconds kDay = 86'400;

// The members of a document that matter to a test.
struct Draft {
  std::string id = "CHG-2025-001";
  std::string type = "change";
  std::vector<std::string> customers = {"hts"};
  std::string status = "submitted";
  EpochSeconds created_at = kToday - kDay;
  std::optional<EpochSeconds> modified_at = std::nullopt;
  int version = 1;
  std::string title = "A change";
  std::string extra = {};  // More members, such as R"(,"note":"x")".
};

inline std::string JsonOf(const Draft& draft) {
  std::string text;
  JsonWriter writer(&text);
  const bool is_change = draft.type == "change";
  writer.BeginObject();
  const auto string = [&](std::string_view name, std::string_view value) {
    writer.Key(name);
    writer.String(value);
  };
  string("object_type", draft.type);
  string(is_change ? "changeId" : "announcement_id", draft.id);
  string(is_change ? "changeTitle" : "title", draft.title);
  string("status", draft.status);
  writer.Key(is_change ? "createdAt" : "created_at");
  writer.Int(draft.created_at);
  if (draft.modified_at) {
    writer.Key("modifiedAt");
    writer.Int(*draft.modified_at);
  }
  writer.Key("version");
  writer.Int(draft.version);
  writer.Key("customers");
  writer.BeginArray();
  for (const std::string& customer : draft.customers) writer.String(customer);
  writer.EndArray();
  writer.EndObject();
  text.insert(text.size() - 1, draft.extra);
  return text;
}

inline Document DocumentOf(const Draft& draft) {
  Result<Document> document = Document::Parse(JsonOf(draft));
  CHECK(document.has_value());
  return *std::move(document);
}

class World {
 public:
  // Makes other tables than the model.
  using MakeTables = std::function<std::unique_ptr<tables::Tables>(const Clock*)>;

  explicit World(DocumentsOptions given = {}, const MakeTables& make = {})
      : options(std::move(given)),
        other(make ? make(&clock) : nullptr),
        tables(other ? other.get() : &model),
        limiter(*RateLimiter::Make({.rate_per_second = options.rate_per_second}, clock, sleeper)) {
    CHECK(EnsureCacheTable(tables, options.table).has_value());
  }

  // For a second set of parts beside those of this world, which have their metrics already.
  Runtime RuntimeWith(Metrics* other_metrics) {
    return {.clock = clock,
            .random = random,
            .sleeper = sleeper,
            .logger = logger,
            .metrics = *other_metrics};
  }
  Context NewContext(std::stop_token stop = {}) {
    return {.deadline = Deadline::After(clock, options.deadline), .stop = std::move(stop)};
  }
  void Pass(std::chrono::seconds length) { clock.Advance(length); }

  // Writes an object as another program does, without the cache.
  std::string Upload(const Draft& draft) {
    return memory
        .Put({.key = ObjectKey(options, draft.id),
              .bytes = JsonOf(draft),
              .content_type = "application/json"})
        ->etag;
  }
  std::optional<std::string> ObjectOf(const std::string& id) {
    return memory.Bytes(ObjectKey(options, id));
  }
  // The item in the table with this key, of any kind.
  std::optional<item::Item> Stored(const std::string& key) {
    return *tables.inner().Get({.table = options.table, .key = {{"object_id", key}}});
  }
  size_t StoredItems() { return tables.inner().Scan({.table = options.table})->items.size(); }
  void Store(item::Item item) {
    CHECK(tables.inner().Put({.table = options.table, .item = std::move(item)}).has_value());
  }
  std::string Logged() const { return log.str(); }

  DocumentsOptions options;
  ManualClock clock{kToday};
  ManualSleeper sleeper{&clock};
  model::ModelTables model{clock};
  std::unique_ptr<tables::Tables> other;
  testing::FaultyTables tables;
  testing::MemoryObjects memory;
  testing::FaultyObjects objects{&memory};
  SeededRandom random{1};
  std::ostringstream log;
  Logger logger{{}, clock, &log};
  Metrics metrics;
  const Runtime runtime{
      .clock = clock, .random = random, .sleeper = sleeper, .logger = logger, .metrics = metrics};
  std::unique_ptr<RateLimiter> limiter;
  Retrier retrier{runtime, limiter.get()};
  RowStore rows{options, &tables, &retrier, runtime};
  DocumentStore store{options, &objects, &retrier, runtime};
  Observer observer{runtime};
};

}  // namespace tidemark::documents
