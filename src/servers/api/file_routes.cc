#include "servers/api/file_routes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/files.h"
#include "http/range.h"
#include "http/url.h"
#include "servers/api/archive_places.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

constexpr size_t kMaxNameBytes = 200;
constexpr std::string_view kUnknownType = "application/octet-stream";

// No document of these types runs anything. SVG, HTML, XML and PDF are not among them.
constexpr std::array<std::string_view, 12> kSafeTypes = {
    "audio/mp4",  "audio/mpeg", "audio/ogg",  "image/gif", "image/jpeg",      "image/png",
    "image/webp", "text/csv",   "text/plain", "video/mp4", "video/quicktime", "video/webm"};

// The bytes of one character of UTF-8, from its first.
size_t LengthOfCharacter(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Control characters could end the header, slashes lead elsewhere, and marks of writing direction
// make "gpj.exe" read "exe.jpg".
bool IsTreacherous(std::string_view character) {
  if (character.size() == 1) {
    const auto byte = static_cast<unsigned char>(character.front());
    return byte < 0x20 || byte == 0x7F || byte == '/' || byte == '\\';
  }
  const bool control = character >= "\xC2\x80" && character <= "\xC2\x9F";
  const bool line_or_direction = character >= "\xE2\x80\xA8" && character <= "\xE2\x80\xAE";
  const bool mark = character == "\xE2\x80\x8E" || character == "\xE2\x80\x8F";
  const bool isolate = character >= "\xE2\x81\xA6" && character <= "\xE2\x81\xA9";
  return control || line_or_direction || mark || isolate;
}

std::string SafeName(std::string_view name) {
  std::string safe;
  while (!name.empty()) {
    const std::string_view character = name.substr(0, LengthOfCharacter(name.front()));
    name.remove_prefix(character.size());
    if (safe.size() + character.size() > kMaxNameBytes) break;
    safe += IsTreacherous(character) ? "_" : character;
  }
  return safe;
}

// For clients that do not know of filename*: what could be misread is replaced.
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

// Null when there is none. Of a message whose files the policy hides there are none here, so none
// is served.
const archive::FileMeta* FindFile(const archive::Message& message, const std::string& id) {
  const auto found = std::ranges::find(message.traits.files, id, &archive::FileMeta::id);
  return found == message.traits.files.end() ? nullptr : &*found;
}

bool Names(std::string_view header, const std::string& etag) {
  return header == "*" || header.find("\"" + etag + "\"") != std::string_view::npos;
}

// The headers of every answer about this file, whole or not.
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
  const archive::FileMeta* file = FindFile(*message, routed.parameters.find("file")->second);
  if (file == nullptr) return NoFile("the message has no such file");
  const std::string key = TRY(archive::ObjectKeyOf(place, ts, file->id));
  if (objects == nullptr) return NoFile("this archive keeps no files");
  std::unique_ptr<objects::OpenObject> object = TRY(objects->Open(key));
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

std::function<http::Response(const http::RoutedRequest&)> ServeFile(archive::Reader* reader,
                                                                    objects::Objects* objects) {
  return AnswerWith([reader, objects](const http::RoutedRequest& routed) {
    return Serve(routed, reader, objects);
  });
}

}  // namespace tidemark::api
