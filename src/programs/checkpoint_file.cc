#include "programs/checkpoint_file.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/replace_file.h"

namespace tidemark::programs {

namespace {

Error CannotUse(const std::string& path) {
  return Invalid(fmt::format("the checkpoint file '{}' cannot be read and written", path));
}

}  // namespace

Result<std::string> ReadCheckpoint(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::string();
  std::ifstream file(path);
  std::string checkpoint;
  if (!std::getline(file, checkpoint)) return CannotUse(path);
  return checkpoint;
}

Status WriteCheckpoint(const std::string& path, const std::string& checkpoint) {
  return ReplaceFile(path, checkpoint + "\n");
}

Status RemoveCheckpoint(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return CannotUse(path);
  return Done{};
}

}  // namespace tidemark::programs
