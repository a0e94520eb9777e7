// Keys of objects and their paths in a folder: every key has one path inside the folder, and a path
// that decodes to a key is the path of that key.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "objects/directory/key_path.h"
#include "objects/validate.h"

namespace directory = tidemark::directory;

namespace {

constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxPathBytes = 4095;

void CheckPath(std::string_view path) {
  CHECK(path.size() <= kMaxPathBytes && path.find('\0') == std::string_view::npos);
  for (;;) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    CHECK(!name.empty() && name.size() <= kMaxNameBytes && name.front() != '.');
    if (slash == std::string_view::npos) return;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (tidemark::objects::ValidateKey(bytes)) {
    const std::string path = directory::PathOfKey(bytes);
    CheckPath(path);
    CHECK(path.starts_with(directory::FolderOfKey(bytes)));
    CHECK(directory::KeyOfPath(path) == bytes);
  }
  if (const auto key = directory::KeyOfPath(bytes)) {
    CHECK(tidemark::objects::ValidateKey(*key).has_value());
    CHECK(directory::PathOfKey(*key) == bytes);
  }
  return 0;
}
