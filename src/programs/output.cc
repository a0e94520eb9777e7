#include "programs/output.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/json.h"
#include "base/shown_text.h"
#include "item/json.h"
#include "programs/arguments.h"

namespace tidemark::programs {

namespace {

using tables::ProjectionKind;

std::string_view ToString(tables::TableState state) {
  switch (state) {
    case tables::TableState::kCreating:
      return "creating";
    case tables::TableState::kActive:
      return "active";
    case tables::TableState::kUpdating:
      return "updating";
    case tables::TableState::kDeleting:
      return "deleting";
  }
  return "";
}

std::string_view ToString(tables::IndexState state) {
  switch (state) {
    case tables::IndexState::kCreating:
      return "creating";
    case tables::IndexState::kActive:
      return "active";
    case tables::IndexState::kDeleting:
      return "deleting";
  }
  return "";
}

std::string_view ToString(tables::ChangeKind kind) {
  switch (kind) {
    case tables::ChangeKind::kInsert:
      return "insert";
    case tables::ChangeKind::kModify:
      return "modify";
    case tables::ChangeKind::kRemove:
      return "remove";
  }
  return "";
}

std::string ToShorthand(const item::KeyAttribute& attribute) {
  return fmt::format("{}:{}", attribute.name, item::ToString(attribute.type));
}

// "a:S,b:N"
std::string ToShorthand(const std::vector<const item::KeyAttribute*>& attributes) {
  std::string text;
  for (const item::KeyAttribute* attribute : attributes) {
    text.append(text.empty() ? "" : ",").append(ToShorthand(*attribute));
  }
  return text;
}

std::string ToShorthand(const tables::IndexProjection& projection) {
  switch (projection.kind) {
    case ProjectionKind::kAll:
      return "all";
    case ProjectionKind::kKeysOnly:
      return "keys";
    case ProjectionKind::kInclude:
      return fmt::format("include={}", fmt::join(projection.included, ","));
  }
  return "";
}

// Writes a JSON object, member by member.
class Object {
 public:
  Object() { writer_.BeginObject(); }
  Object& Text(std::string_view name, std::string_view text) {
    writer_.Key(name);
    writer_.String(text);
    return *this;
  }
  Object& Count(std::string_view name, uint64_t count) {
    writer_.Key(name);
    writer_.Int(static_cast<int64_t>(count));
    return *this;
  }
  Object& Flag(std::string_view name, bool value) {
    writer_.Key(name);
    writer_.Bool(value);
    return *this;
  }
  Object& Raw(std::string_view name, std::string_view json) {
    writer_.Key(name);
    writer_.Raw(json);
    return *this;
  }
  Object& Keys(const item::KeySchema& keys) {
    Text("key", ToShorthand(item::PartitionAttributes(keys)));
    if (keys.sort) Text("sort", ToShorthand(item::SortAttributes(keys)));
    return *this;
  }
  std::string Finish() {
    writer_.EndObject();
    return std::move(text_);
  }

 private:
  std::string text_;
  JsonWriter writer_{&text_};
};

template <typename Values, typename Write>
std::string ToArray(const Values& values, Write write) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginArray();
  for (const auto& value : values) write(value, &writer);
  writer.EndArray();
  return text;
}

std::string ToJson(const tables::IndexDescription& index) {
  bool is_global = index.spec.kind == tables::IndexKind::kGlobal;
  return Object()
      .Text("name", index.spec.name)
      .Text("kind", is_global ? "global" : "local")
      .Keys(index.spec.keys)
      .Text("projection", ToShorthand(index.spec.projection))
      .Text("state", ToString(index.state))
      .Flag("backfilling", index.backfilling)
      .Count("items", index.item_count)
      .Count("size_bytes", index.size_bytes)
      .Finish();
}

std::string ToJson(const tables::StreamSummary& stream) {
  return Object()
      .Text("arn", stream.arn)
      .Text("label", stream.label)
      .Text("view", programs::ToString(stream.view))
      .Flag("enabled", stream.enabled)
      .Finish();
}

void PrintTo(std::FILE* file, std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), file);
  std::fputc('\n', file);
}

}  // namespace

// JSON keeps its meaning: bytes that a terminal obeys become escapes. In messages, which are for
// people, they are removed.
void PrintLine(std::string_view json) { PrintTo(stdout, EscapeDisplayChanges(json)); }
void PrintText(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintMessage(std::string_view text) {
  for (size_t at = 0; at <= text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    PrintTo(stderr, WithoutDisplayChanges(line));
    at += line.size() + 1;
  }
}

std::string ToJson(const tables::TableDescription& description) {
  Object object;
  object.Text("table", description.name)
      .Text("arn", description.arn)
      .Text("id", description.id)
      .Text("state", ToString(description.state))
      .Keys(description.keys)
      .Count("items", description.item_count)
      .Count("size_bytes", description.size_bytes)
      .Count("created_at", static_cast<uint64_t>(description.created_at))
      .Flag("protected", description.deletion_protected);
  object.Raw("indexes", ToArray(description.indexes, [](const auto& index, JsonWriter* writer) {
               writer->Raw(ToJson(index));
             }));
  if (description.latest_stream) object.Raw("stream", ToJson(*description.latest_stream));
  if (description.ttl_attribute) object.Text("ttl", *description.ttl_attribute);
  return object.Finish();
}

std::string ToJson(const tables::Tags& tags) {
  Object object;
  for (const auto& [name, value] : tags) object.Text(name, value);
  return object.Finish();
}

std::string ToJson(const tables::WriteReply& reply) {
  Object object;
  object.Flag("applied", reply.applied);
  if (reply.attributes) object.Raw("attributes", item::ToJson(*reply.attributes));
  if (reply.failed_on) object.Raw("item", item::ToJson(*reply.failed_on));
  return object.Finish();
}

std::string ToJson(const tables::StreamRecord& record) {
  Object object;
  object.Text("sequence", record.sequence)
      .Text("change", ToString(record.kind))
      .Count("created_at", static_cast<uint64_t>(record.created_at))
      .Flag("expired", record.expired)
      .Raw("keys", item::ToJson(record.keys));
  if (record.old_image) object.Raw("old", item::ToJson(*record.old_image));
  if (record.new_image) object.Raw("new", item::ToJson(*record.new_image));
  return object.Finish();
}

std::string ToJson(const embedded::VerifyReport& report) {
  return Object()
      .Flag("sound", report.problems.empty())
      .Count("tables", report.tables)
      .Count("items", report.items)
      .Count("index_rows", report.index_rows)
      .Count("stream_records", report.stream_records)
      .Raw("problems",
           ToArray(report.problems,
                   [](const std::string& problem, JsonWriter* writer) { writer->String(problem); }))
      .Finish();
}

}  // namespace tidemark::programs
