// Settings files: one is refused with a message that names the file, or loads. Then every setting
// has a value of its kind and a line that describes it, and no line shows a secret.
#include "base/settings.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

namespace {

using tidemark::Setting;
using tidemark::SettingKind;
using tidemark::Settings;

// A file in memory; the same one each time.
std::string WriteFile(const uint8_t* data, size_t size) {
  static const int file = memfd_create("settings", MFD_CLOEXEC);
  CHECK(ftruncate(file, 0) == 0);
  CHECK(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  return "/proc/self/fd/" + std::to_string(file);
}

// Each of these stops the program when the value is not of the kind.
void Read(const Settings& settings, const Setting& setting) {
  switch (setting.kind) {
    case SettingKind::kText:
    case SettingKind::kChoice:
      (void)settings.Text(setting.name);
      return;
    case SettingKind::kInteger:
      (void)settings.Integer(setting.name);
      return;
    case SettingKind::kDecimal:
      (void)settings.Decimal(setting.name);
      return;
    case SettingKind::kBool:
      (void)settings.Bool(setting.name);
      return;
    case SettingKind::kDuration:
      CHECK(settings.Duration(setting.name).count() >= 0);
      return;
    case SettingKind::kSecret:
      return;  // It may name any file of the machine, which is not to be read.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = WriteFile(data, size);
  const auto settings = Settings::Load(tidemark::ProgramSettings(), {.file = path});
  if (!settings) {
    CHECK(settings.error().code == tidemark::ErrorCode::kInvalid);
    CHECK(settings.error().message.starts_with(path + ":"));
    return 0;
  }
  const std::string description = settings->Describe();
  std::string_view rest = description;
  for (const Setting& setting : tidemark::ProgramSettings()) {
    Read(*settings, setting);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::string start = std::string(setting.name) + " = ";
    CHECK(line.starts_with(start));
    if (setting.kind == SettingKind::kSecret) {
      const std::string_view value = line.substr(start.size());
      CHECK(value.starts_with("\"\"  (") || value.starts_with("…  (" + path + ":"));
    }
    rest.remove_prefix(line.size() + 1);
  }
  CHECK(rest.empty());
  return 0;
}
