#include "tests/objects/implementations.h"

#include "base/check.h"
#include "base/random.h"
#include "objects/directory/directory_objects.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::objects {

namespace {

class Directory final : public Implementation {
 public:
  Directory() {
    auto opened = directory::DirectoryObjects::Open(folder_.path() + "/bucket", clock_, random_);
    CHECK(opened.has_value());
    objects_ = std::move(*opened);
  }
  Objects& objects() override { return *objects_; }
  ManualClock& clock() override { return clock_; }

 private:
  TempFolder folder_;
  ManualClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<Objects> objects_;
};

}  // namespace

std::vector<Factory> Implementations() {
  return {{"Directory", [] { return std::make_unique<Directory>(); }}};
}

}  // namespace tidemark::objects
