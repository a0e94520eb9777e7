// Settings files: a file is refused with an error that names the file, or it loads. Then every
// setting has a value of its kind and a line in Describe(), and no line shows a secret.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "programs/program_settings.h"

namespace {

using tidemark::Setting;
using tidemark::SettingKind;
using tidemark::Settings;

// Writes the input to a file in memory, the same file each time.
std::string WriteFile(const uint8_t* data, size_t size) {
  static const int file = memfd_create("settings", MFD_CLOEXEC);
  CHECK(ftruncate(file, 0) == 0);
  CHECK(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  return "/proc/self/fd/" + std::to_string(file);
}

// Each of these calls stops the program when the value has another kind.
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
      return;  // It may name any file of the machine, which must not be read.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = WriteFile(data, size);
  const auto settings = Settings::Load(tidemark::programs::ProgramSettings(), {.file = path});
  if (!settings) {
    CHECK(settings.error().code == tidemark::ErrorCode::kInvalid);
    CHECK(settings.error().message.starts_with(path + ":"));
    return 0;
  }
  const std::string description = settings->Describe();
  std::string_view rest = description;
  for (const Setting& setting : tidemark::programs::ProgramSettings()) {
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
