#include "servers/api/archive/file_routes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/archive/files.h"
#include "base/shown_text.h"
#include "http/range.h"
#include "http/url.h"
#include "servers/api/archive/places.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

constexpr size_t kMaxNameBytes = 200;
constexpr std::string_view kUnknownType = "application/octet-stream";

// Files of these types cannot run code. SVG, HTML, XML and PDF can, and are not listed.
constexpr std::array<std::string_view, 12> kSafeTypes = {
    "audio/mp4",  "audio/mpeg", "audio/ogg",  "image/gif", "image/jpeg",      "image/png",
    "image/webp", "text/csv",   "text/plain", "video/mp4", "video/quicktime", "video/webm"};

// Slashes could lead to another folder. Characters that change the display could end the header or
// hide the type of the file.
bool IsTreacherous(std::string_view character) {
  return character == "/" || character == "\\" || ChangesDisplay(character);
}

std::string SafeName(std::string_view name) {
  std::string safe;
  while (!name.empty()) {
    const std::string_view character = FirstCharacter(name);
    name.remove_prefix(character.size());
    if (safe.size() + character.size() > kMaxNameBytes) break;
    safe += IsTreacherous(character) ? "_" : character;
  }
  return safe;
}

// For clients that do not know filename*: every character that could be misread is replaced.
std::string AsciiName(std::string_view name) {
  std::string ascii(name);
  std::ranges::replace_if(
      ascii, [](char c) { return c < 0x20 || c > 0x7E || c == '"' || c == '%' || c == '\\'; }, '_');
  return ascii;
}

class ObjectBody final : public http::BodySource {
 public:
  ObjectBody(std::unique_ptr<objects::OpenObject> object, uint64_t first)
      : object_(std::move(object)), first_(first) {}

  Result<std::string> Read(uint64_t offset, size_t size) override {
    return object_->Read(first_ + offset, size);
  }

 private:
  const std::unique_ptr<objects::OpenObject> object_;
  const uint64_t first_;
};

http::Response NoFile(std::string_view detail) { return http::Problem(404, std::string(detail)); }

// nullopt when the message has no such file. The reader removes the files of a message that the
// policy hides, so they are not served either.
std::optional<archive::FileMeta> FindFile(const archive::Message& message, const std::string& id) {
  const std::vector<archive::FileMeta> files = archive::ShownFiles(message);
  const auto found = std::ranges::find(files, id, &archive::FileMeta::id);
  return found == files.end() ? std::nullopt : std::optional(*found);
}

bool Names(std::string_view header, const std::string& etag) {
  return header == "*" || header.find("\"" + etag + "\"") != std::string_view::npos;
}

// The headers of every answer with this file, the whole file or a part.
http::Headers HeadersOf(const objects::ObjectInfo& info, const archive::FileMeta& file) {
  http::Headers headers;
  headers.Set("Content-Type", std::string(SafeType(file.mimetype)));
  headers.Set("Content-Disposition", DispositionOf(file.name, file.id));
  headers.Set("X-Content-Type-Options", "nosniff");
  headers.Set("Content-Security-Policy", "sandbox; default-src 'none'");
  headers.Set("Cross-Origin-Resource-Policy", "same-origin");
  headers.Set("Cache-Control", "private, no-cache");
  headers.Set("Accept-Ranges", "bytes");
  headers.Set("ETag", "\"" + info.etag + "\"");
  return headers;
}

// The whole file, or the part that was asked for.
http::Response ResponseOf(const http::Request& request, const archive::FileMeta& file,
                          std::unique_ptr<objects::OpenObject> object) {
  const objects::ObjectInfo& info = object->info();
  const uint64_t size = info.size;
  http::Response response{.headers = HeadersOf(info, file)};
  const auto known = request.headers.Find("If-None-Match");
  if (known && Names(*known, info.etag)) {
    response.status = 304;
    return response;
  }
  const http::Range range = http::FindRange(request, size, info.etag);
  if (range.kind == http::Range::Kind::kUnsatisfiable) {
    http::Response refused = http::Problem(416, "the file ends before the range begins");
    refused.headers.Set("Content-Range", http::ContentRange(range, size));
    return refused;
  }
  if (range.kind == http::Range::Kind::kPart) {
    response.status = 206;
    response.headers.Set("Content-Range", http::ContentRange(range, size));
  }
  response.source_size = range.size;
  response.source = std::make_shared<ObjectBody>(std::move(object), range.offset);
  return response;
}

Result<http::Response> Serve(const http::RoutedRequest& routed, archive::Reader* reader,
                             objects::Objects* objects) {
  const archive::Place place = TRY(PlaceIn(routed));
  const slack::Timestamp ts = TRY(TsIn(routed));
  const auto message = TRY(reader->FindMessage(place, ts));
  if (!message) return NoFile("there is no such message");
  const auto file = FindFile(*message, routed.parameters.find("file")->second);
  if (!file) return NoFile("the message has no such file");
  if (objects == nullptr) return NoFile("this archive keeps no files");
  std::unique_ptr<objects::OpenObject> object;
  for (const archive::Place& id : TRY(reader->IdsOf(place))) {
    const std::string key = TRY(archive::ObjectKeyOf(id, ts, file->id));
    if (object == nullptr) object = TRY(objects->Open(key));
  }
  if (object == nullptr) {
    return NoFile(
        message->files_fetch_failed
            ? "the file could not be fetched: " + message->files_fetch_error
            : "the file is not stored: it is external, hidden by Slack, or not fetched yet");
  }
  return ResponseOf(routed.request, *file, std::move(object));
}

}  // namespace

std::string DispositionOf(std::string_view name, std::string_view fallback) {
  const std::string safe = SafeName(name.empty() ? fallback : name);
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", AsciiName(safe),
                     http::PercentEncode(safe));
}

std::string_view SafeType(std::string_view mimetype) {
  const auto* const found = std::ranges::find(kSafeTypes, mimetype);
  return found == kSafeTypes.end() ? kUnknownType : *found;
}

http::RouteHandler ServeFile(archive::Reader* reader, objects::Objects* objects) {
  return AnswerWith([reader, objects](const http::RoutedRequest& routed) {
    return Serve(routed, reader, objects);
  });
}

}  // namespace tidemark::api
