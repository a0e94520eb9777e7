// The memory that the handling of an event takes. AddressSanitizer counts it, so there is no such
// test in builds without it.
#if defined(__clang__)
#if __has_feature(address_sanitizer)

#include <algorithm>
#include <atomic>
#include <string>

#include <fmt/format.h>
#include <sanitizer/allocator_interface.h>

#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

std::atomic<size_t> peak_bytes = 0;

// Large blocks decide; the small ones are counted with the next large one.
void NotePeak(const volatile void*, size_t size) {
  if (size < 4096) return;
  const size_t now = __sanitizer_get_current_allocated_bytes();
  size_t before = peak_bytes;
  while (now > before && !peak_bytes.compare_exchange_weak(before, now)) {
  }
}
void IgnoreFree(const volatile void*) {}

// The seed's handler of events has 256 MB. One object is handled at a time, and no object above
// 16 MiB is read. The parser's memory depends on the size of the text and not on its content.
// Spec: 002-76
TEST(EventMemoryTest, AnEventOfTheLargestObjectTakesLessThan256Mebibytes) {
  WriteWorld world;
  EventHandler events{world.options, &world.synchronizer, &world.observer};
  const auto extra = [](size_t size) {
    return fmt::format(R"(,"plan":"{}")", std::string(size, 'x'));
  };
  world.Upload({.extra = extra(kMaxDocumentBytes - JsonOf({.extra = extra(0)}).size())});
  ASSERT_EQ(world.ObjectOf(kId)->size(), kMaxDocumentBytes);
  const std::string event = fmt::format(
      R"({{"Records":[{{"eventSource":"aws:s3","eventName":"ObjectCreated:Put","s3":{{"bucket":)"
      R"({{"name":"{}"}},"object":{{"key":"{}"}}}}}}]}})",
      world.options.bucket, ObjectKey(world.options, kId));
  ASSERT_NE(__sanitizer_install_malloc_and_free_hooks(NotePeak, IgnoreFree), 0);
  const size_t before = __sanitizer_get_current_allocated_bytes();
  peak_bytes = before;
  const EventReport report = events.Handle(world.NewContext(), event);
  const size_t used = peak_bytes - before;
  ASSERT_EQ(report.records.size(), 1U);
  EXPECT_EQ(report.records[0].fate, RecordFate::kSynced) << report.records[0].why;
  EXPECT_LT(used, size_t{256} << 20);
  EXPECT_GT(used, kMaxDocumentBytes) << "nothing was measured";
}

}  // namespace
}  // namespace tidemark::documents

#endif
#endif
