// Fuzzes checkpoints of runs over all documents: a text is refused, or parses to the same again.
#include <cstddef>
#include <cstdint>

#include "apps/documents/walk.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::documents;
  const auto checkpoint = ParseCheckpoint({reinterpret_cast<const char*>(data), size});
  if (!checkpoint) {
    CHECK(checkpoint.error().code == tidemark::ErrorCode::kInvalid);
    return 0;
  }
  CHECK(*ParseCheckpoint(ToText(*checkpoint)) == *checkpoint);
  return 0;
}
