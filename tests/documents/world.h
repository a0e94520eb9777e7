// What every test of documents needs: options, the model of the tables and objects in memory behind
// decorators that can fail, a clock that the test moves, waits that take no time, and the lines
// that were logged. It begins with the table made and nothing in it, on 2025-10-17.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/documents/cache_manager.h"
#include "apps/documents/converter.h"
#include "apps/documents/document_store.h"
#include "apps/documents/observer.h"
#include "apps/documents/row_store.h"
#include "apps/documents/table.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "item/attributes.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_objects.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/memory_objects.h"

namespace tidemark::documents {

inline void PrintTo(CacheErrorType type, std::ostream* out) { *out << ToString(type); }

// Moves a ManualClock on instead of waiting, and remembers for how long.
class ManualPauser final : public Pauser {
 public:
  explicit ManualPauser(ManualClock* clock) : clock_(*clock) {}

  bool Pause(std::chrono::nanoseconds length, const std::stop_token& stop) override {
    if (on_pause) on_pause(length);
    if (stop.stop_requested()) return false;
    clock_.Advance(std::chrono::ceil<std::chrono::milliseconds>(length));
    const std::lock_guard lock(mutex_);
    pauses_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(length));
    return true;
  }
  std::vector<std::chrono::milliseconds> pauses() const {
    const std::lock_guard lock(mutex_);
    return pauses_;
  }

  // Called before each: to give up meanwhile, or to change something. Unset: nothing happens.
  std::function<void(std::chrono::nanoseconds)> on_pause;

 private:
  ManualClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> pauses_;
};

inline constexpr EpochSeconds kToday = 1'760'659'200;  // 2025-10-17T00:00:00Z
inline constexpr EpochSeconds kDay = 86'400;

// A document's text, made of what matters to a test.
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
  // Other tables than the model's, when they are made here.
  using MakeTables = std::function<std::unique_ptr<tables::Tables>(const Clock*)>;

  explicit World(DocumentsOptions given = {}, const MakeTables& make = {})
      : options(std::move(given)),
        other(make ? make(&clock) : nullptr),
        tables(other ? other.get() : &model),
        bucket(*TokenBucket::Make({.rate_per_second = options.rate_per_second}, &clock, &pauser)) {
    CHECK(EnsureCacheTable(tables, options.table).has_value());
  }

  Context NewContext(std::stop_token stop = {}) {
    return {.deadline = Deadline::After(clock, options.deadline), .stop = std::move(stop)};
  }
  void Pass(std::chrono::seconds length) { clock.Advance(length); }

  // As another program does it, past the cache.
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
  // As it is in the table, whatever it is.
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
  ManualPauser pauser{&clock};
  model::ModelTables model{clock};
  std::unique_ptr<tables::Tables> other;
  testing::FaultyTables tables;
  testing::MemoryObjects memory;
  testing::FaultyObjects objects{&memory};
  SeededRandom random{1};
  std::ostringstream log;
  Logger logger{{}, clock, &log};
  Metrics metrics;
  std::unique_ptr<TokenBucket> bucket;
  Retrier retrier{&pauser, bucket.get()};
  RowStore rows{options, &tables, &retrier, &random};
  DocumentStore store{options, &objects, &retrier};
  Observer observer{&clock, &logger, &metrics};
  CacheManager manager{options, &rows, &observer};
};

}  // namespace tidemark::documents
