#include "tables/embedded/durable_mark.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tidemark::embedded {

namespace {

constexpr mode_t kMarkMode = 0600;
constexpr size_t kDigits = 20;  // The largest 64-bit number has 20 digits.

// The number is written twice, with leading zeros. In a torn or damaged mark the two differ.
std::string MarkLine(uint64_t sequence) { return fmt::format("{0:020} {0:020}\n", sequence); }

std::optional<uint64_t> ParseMark(const std::string& text) {
  uint64_t sequence = 0;
  const char* digits = text.data();
  const auto parsed = std::from_chars(digits, digits + std::min(text.size(), kDigits), sequence);
  if (parsed.ec != std::errc() || text != MarkLine(sequence)) return std::nullopt;
  return sequence;
}

Error MarkError(const std::string& path) {
  const bool is_denied = errno == EACCES || errno == EPERM || errno == EROFS;
  return {is_denied ? ErrorCode::kDenied : ErrorCode::kUnavailable,
          fmt::format("the mark '{}' cannot be opened: {} (check the disk and the folder's "
                      "permissions)",
                      path, std::strerror(errno))};
}

}  // namespace

Result<std::optional<uint64_t>> DurableMark::Read(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && (errno == ENOENT || errno == ENOTDIR)) return std::optional<uint64_t>();
  if (!file.is_open()) return MarkError(path);
  std::array<char, 2 * kDigits + 3> bytes = {};
  const ssize_t length = ::pread(file.get(), bytes.data(), bytes.size(), 0);
  if (length < 0) return MarkError(path);
  return ParseMark(std::string(bytes.data(), static_cast<size_t>(length)));
}

Result<DurableMark> DurableMark::Open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMarkMode));
  if (!file.is_open()) return MarkError(path);
  return DurableMark(std::move(file));
}

// A failed write is ignored: the file keeps the older mark, which is still true.
void DurableMark::Advance(uint64_t sequence) {
  if (!file_.is_open()) return;
  const std::string line = MarkLine(sequence);
  (void)!::pwrite(file_.get(), line.data(), line.size(), 0);
}

void DurableMark::Sync() {
  if (file_.is_open()) (void)!::fdatasync(file_.get());
}

}  // namespace tidemark::embedded
