#include "http/message.h"

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"

namespace tidemark::http {

namespace {

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

Response WithBody(int status, std::string_view content_type, std::string body) {
  Response response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.Add("Content-Type", std::string(content_type));
  // What is answered belongs to the caller alone, and is what its type says.
  response.headers.Add("Cache-Control", "no-store");
  response.headers.Add("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace

std::string_view ToString(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
  }
  return "GET";
}

bool EqualIgnoringCase(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return ToLower(a) == ToLower(b); });
}

void Headers::Add(std::string name, std::string value) {
  headers_.push_back({.name = std::move(name), .value = std::move(value)});
}

void Headers::Set(std::string name, std::string value) {
  std::erase_if(headers_,
                [&](const Header& header) { return EqualIgnoringCase(header.name, name); });
  Add(std::move(name), std::move(value));
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  for (const Header& header : headers_) {
    if (EqualIgnoringCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::FindAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Header& header : headers_) {
    if (EqualIgnoringCase(header.name, name)) values.emplace_back(header.value);
  }
  return values;
}

uint64_t BodyBytes(const Response& response) {
  if (response.source) return response.source_size;
  uint64_t bytes = response.body.size();
  for (const SharedText& part : response.parts) bytes += part->size();
  return bytes;
}

std::string_view StatusText(int status) {
  struct Named {
    int status;
    std::string_view text;
  };
  // Sorted by status, for the binary search below.
  static constexpr Named kNames[] = {
      {100, "Continue"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {416, "Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Content"},
      {423, "Locked"},
      {425, "Too Early"},
      {428, "Precondition Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  const Named* found = std::ranges::lower_bound(kNames, status, {}, &Named::status);
  return found != std::end(kNames) && found->status == status ? found->text : "Unknown";
}

Response Text(int status, std::string body) {
  return WithBody(status, "text/plain; charset=utf-8", std::move(body));
}

Response Json(int status, std::string body) {
  return WithBody(status, "application/json", std::move(body));
}

Response Json(int status, std::vector<SharedText> parts) {
  Response response = Json(status, std::string());
  response.parts = std::move(parts);
  return response;
}

Response Problem(int status, std::string_view detail) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Key("type");
  writer.String("about:blank");
  writer.Key("title");
  writer.String(StatusText(status));
  writer.Key("status");
  writer.Int(status);
  if (!detail.empty()) {
    writer.Key("detail");
    // It may quote what the client sent.
    writer.String(Shown(detail));
  }
  writer.EndObject();
  return WithBody(status, "application/problem+json", std::move(body));
}

Response BadRequest(int status, std::string_view detail) {
  Response response = Problem(status, detail);
  response.is_to_bad_request = true;
  return response;
}

}  // namespace tidemark::http
