#include "programs/archive/import_at_server.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hashing.h"
#include "base/json.h"
#include "base/json_members.h"
#include "programs/progress.h"
#include "servers/api/archive/import_json.h"

namespace tidemark::programs {

namespace {

// Below the largest body that the server takes, which is 1 MiB.
constexpr size_t kPieceBytes = 512 << 10;
// How often the server is asked. Small exports are imported after some milliseconds.
constexpr std::chrono::milliseconds kFirstPause(20);
constexpr std::chrono::milliseconds kLongestPause(1000);

// The export, read from its beginning or from any byte on.
class Export {
 public:
  static Result<Export> Open(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      return Invalid(
          fmt::format("'{}' is a folder, and a server takes a zip file: pack it with "
                      "(cd '{}' && zip -r ../export.zip .), and import that",
                      path, path));
    }
    const uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file) {
      return Error{ErrorCode::kNotFound, fmt::format("'{}' cannot be read: {}", path,
                                                     error ? error.message() : "no permission?")};
    }
    return Export(std::move(file), size);
  }

  // The SHA-256 hash of all bytes: the id of the import.
  std::string Hash() {
    Sha256Stream hash;
    for (uint64_t at = 0; at < size_;) {
      const std::string piece = Piece(at);
      if (piece.empty()) break;
      hash.Add(piece);
      at += piece.size();
    }
    return ToHex(hash.Finish());
  }

  std::string Piece(uint64_t offset) {
    std::string piece(kPieceBytes, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<size_t>(std::max<std::streamsize>(file_.gcount(), 0)));
    return piece;
  }

  uint64_t size() const { return size_; }

 private:
  Export(std::ifstream file, uint64_t size) : file_(std::move(file)), size_(size) {}

  std::ifstream file_;
  uint64_t size_;
};

// A line of progress that another thread prints.
class Shown {
 public:
  void Set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_ = "the export is read";
};

uint64_t CountIn(const JsonDocument& state, std::string_view name) {
  return static_cast<uint64_t>(std::max<int64_t>(IntegerIn(state.root(), name), 0));
}

std::string StartBody(const ImportCommandOptions& options) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Key("teams");
  writer.BeginArray();
  for (const std::string& team : options.teams) writer.String(team);
  writer.EndArray();
  writer.Key("with_private");
  writer.Bool(options.with_private);
  writer.Key("dry_run");
  writer.Bool(options.dry_run);
  writer.EndObject();
  return body;
}

Status SendFrom(uint64_t offset, Export& file, ApiSource& source, const std::string& path,
                Shown& shown) {
  while (offset < file.size()) {
    shown.Set(fmt::format("{} of {} bytes sent", offset, file.size()));
    std::string piece = file.Piece(offset);
    if (piece.empty()) return Invalid("the file became shorter while it was sent");
    const JsonDocument state = TRY(source.Send({.method = http::Method::kPut,
                                                .path = fmt::format("{}?offset={}", path, offset),
                                                .body = std::move(piece)}));
    offset = CountIn(state, "received");
  }
  return Done{};
}

Result<JsonDocument> Await(JsonDocument state, ApiSource& source, const std::string& path,
                           Shown& shown) {
  for (auto pause = kFirstPause; TextIn(state.root(), "state") == "running";
       pause = std::min(pause * 2, kLongestPause)) {
    shown.Set(fmt::format("{} of {} files, {} messages", CountIn(state, "files"),
                          CountIn(state, "total_files"), CountIn(state, "messages")));
    std::this_thread::sleep_for(pause);
    state = TRY(source.Need(path));
  }
  return state;
}

}  // namespace

Result<archive::ImportReport> ImportAtServer(const ImportCommandOptions& options) {
  Export file = TRY(Export::Open(options.path));
  const auto source = TRY(OpenServerSource(options.source));
  Shown shown;
  const Progress progress(options.source.folder.progress, [&] { return shown.text(); });
  const std::string path = "/api/v1/archive/imports/" + file.Hash();
  auto known = TRY(source->Get(path));
  // An earlier command began the same import and was interrupted.
  if (known && TextIn(known->root(), "state") == "running") {
    known = TRY(Await(*std::move(known), *source, path, shown));
  }
  TRY(SendFrom(known ? CountIn(*known, "received") : 0, file, *source, path, shown));
  JsonDocument begun = TRY(source->Send(
      {.method = http::Method::kPost, .path = path + "/start", .body = StartBody(options)}));
  const JsonDocument state = TRY(Await(std::move(begun), *source, path, shown));
  const auto report = state.root().Find("report");
  if (report) return api::ReadImportReport(*report);
  return Error{ErrorCode::kUnavailable,
               "the server could not import it: " + TextIn(state.root(), "error")};
}

}  // namespace tidemark::programs
