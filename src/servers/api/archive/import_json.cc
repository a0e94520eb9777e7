#include "servers/api/archive/import_json.h"

#include <algorithm>
#include <string_view>

#include "base/json_members.h"

namespace tidemark::api {

namespace {

using archive::ImportReport;

uint64_t CountIn(const Json& root, std::string_view name) {
  return static_cast<uint64_t>(std::max<int64_t>(IntegerIn(root, name), 0));
}

void WriteExamples(const ImportReport& report, JsonWriter* writer) {
  writer->Key("examples");
  writer->BeginArray();
  for (const archive::Problem& problem : report.examples) {
    writer->BeginObject();
    writer->Key("file");
    writer->String(problem.file);
    writer->Key("reason");
    writer->String(problem.reason);
    writer->EndObject();
  }
  writer->EndArray();
}

}  // namespace

std::string ToJson(const ImportReport& report, archive::ImportMode mode) {
  std::string text;
  JsonWriter writer(&text);
  const auto count = [&](std::string_view name, uint64_t value) {
    writer.Key(name);
    writer.Int(static_cast<int64_t>(value));
  };
  writer.BeginObject();
  writer.Key("dry_run");
  writer.Bool(mode == archive::ImportMode::kDryRun);
  writer.Key("teams");
  writer.BeginArray();
  for (const std::string& team : report.teams) writer.String(team);
  writer.EndArray();
  count("files", report.files);
  count("unreadable_files", report.unreadable_files);
  count("size_bytes", report.bytes);
  count("messages", report.MessageCount());
  count("new", report.messages.stored_new);
  count("updated", report.messages.updated);
  count("unchanged", report.messages.unchanged);
  count("left_out", report.left_out);
  count("bad", report.bad);
  count("reactions_new", report.messages.reactions);
  count("pins_new", report.pins);
  count("users", report.users);
  count("channels", report.channels);
  count("private_left_out", report.private_left_out);
  count("attachments_left_out", report.attachments);
  if (report.attachments > 0) {
    writer.Key("first_attachment");
    writer.String(report.first_attachment);
  }
  if (report.is_stopped) {
    writer.Key("stopped_after");
    writer.String(report.last_file);
    count("total_files", report.total_files);
  }
  count("problems", report.problems);
  WriteExamples(report, &writer);
  writer.Key("seconds");
  writer.Double(report.seconds);
  writer.Key("messages_per_second");
  writer.Double(static_cast<double>(report.MessageCount()) / std::max(report.seconds, 1e-9));
  writer.EndObject();
  return text;
}

ImportReport ReadImportReport(const Json& root) {
  ImportReport report;
  if (const auto teams = root.Find("teams")) {
    for (const Json team : teams->Elements()) {
      report.teams.emplace_back(team.AsString().value_or(""));
    }
  }
  report.files = CountIn(root, "files");
  report.unreadable_files = CountIn(root, "unreadable_files");
  report.bytes = CountIn(root, "size_bytes");
  report.messages.stored_new = CountIn(root, "new");
  report.messages.updated = CountIn(root, "updated");
  report.messages.unchanged = CountIn(root, "unchanged");
  report.messages.reactions = CountIn(root, "reactions_new");
  report.left_out = CountIn(root, "left_out");
  report.bad = CountIn(root, "bad");
  report.pins = CountIn(root, "pins_new");
  report.users = CountIn(root, "users");
  report.channels = CountIn(root, "channels");
  report.private_left_out = CountIn(root, "private_left_out");
  report.attachments = CountIn(root, "attachments_left_out");
  report.first_attachment = TextIn(root, "first_attachment");
  report.is_stopped = root.Find("stopped_after").has_value();
  report.last_file = TextIn(root, "stopped_after");
  report.total_files = CountIn(root, "total_files");
  report.problems = CountIn(root, "problems");
  if (const auto examples = root.Find("examples")) {
    for (const Json example : examples->Elements()) {
      report.examples.push_back({TextIn(example, "file"), TextIn(example, "reason")});
    }
  }
  if (const auto seconds = root.Find("seconds")) report.seconds = seconds->AsDouble().value_or(0);
  return report;
}

}  // namespace tidemark::api
