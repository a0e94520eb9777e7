#include "base/disk_encryption.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fmt/format.h>

namespace tidemark {

namespace {

namespace fs = std::filesystem;

// A device may be built on other devices. More layers than this are an error of the machine.
constexpr int kMaxLayers = 16;

bool IsCryptDevice(const fs::path& device) {
  std::ifstream file(device / "dm" / "uuid");
  std::string uuid;
  return std::getline(file, uuid) && uuid.starts_with("CRYPT-");
}

// Whether the device is encrypted itself, or all devices that it is built on are.
bool IsEncrypted(const fs::path& device, int layers) {
  if (IsCryptDevice(device)) return true;
  std::error_code error;
  fs::directory_iterator below(device / "slaves", error);
  if (error || below == end(below) || layers == 0) return false;
  for (; !error && below != end(below); below.increment(error)) {
    if (!IsEncrypted(below->path(), layers - 1)) return false;
  }
  return !error;
}

}  // namespace

DiskEncryption EncryptionOf(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return DiskEncryption::kUnknown;
  return EncryptionOfDevice(status.st_dev);
}

DiskEncryption EncryptionOfDevice(uint64_t device, const std::string& sys) {
  const fs::path folder = fmt::format("{}/dev/block/{}:{}", sys, major(device), minor(device));
  std::error_code error;
  if (!fs::exists(folder, error)) return DiskEncryption::kUnknown;
  return IsEncrypted(folder, kMaxLayers) ? DiskEncryption::kEncrypted : DiskEncryption::kNotSeen;
}

}  // namespace tidemark
