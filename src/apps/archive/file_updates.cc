#include "apps/archive/file_updates.h"

#include <string_view>

namespace tidemark::archive {

namespace {

constexpr char kStored[] = "files_s3";
constexpr char kFailed[] = "files_fetch_failed";
constexpr char kError[] = "files_fetch_error";
constexpr std::string_view kOwnAttributes[] = {kStored, kFailed, kError};

item::Item WithoutOwn(item::Item row) {
  for (const std::string_view name : kOwnAttributes) row.Erase(name);
  return row;
}

}  // namespace

tables::UpdateRequest UpdateOfFiles(const std::string& table, const Message& message,
                                    const FilesUpdate& update) {
  tables::UpdateRequest request{
      .table = table,
      .key = KeyOf(MessagesOf(message.place), message.ts.text()),
      .condition = "attribute_exists(#id) AND attribute_not_exists(#purged)",
      .names = {
          {"#id", "itemId"}, {"#purged", "purged"}, {"#failed", kFailed}, {"#error", kError}}};
  if (update.error.empty()) {
    request.update = "REMOVE #failed, #error";
  } else {
    request.update = "SET #failed = :true, #error = :error";
    request.values = {{":true", true}, {":error", update.error}};
  }
  // A set, so that telling it twice is telling it once.
  if (!update.uris.empty()) {
    *request.update += " ADD #stored :uris";
    request.names["#stored"] = kStored;
    request.values[":uris"] = item::StringSet(update.uris);
  }
  return request;
}

bool IsOfFilesAlone(const tables::StreamRecord& record) {
  if (!record.old_image || !record.new_image) return false;
  const bool is_flag_gone =
      record.old_image->Contains(kFailed) && !record.new_image->Contains(kFailed);
  return !is_flag_gone && WithoutOwn(*record.old_image) == WithoutOwn(*record.new_image);
}

}  // namespace tidemark::archive
