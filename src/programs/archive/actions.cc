#include "programs/archive/actions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "http/url.h"
#include "programs/output.h"

namespace tidemark::programs {

namespace {

constexpr uint64_t kMaxPage = 1000;
// Fits into a terminal of usual width.
constexpr size_t kTextWidth = 80;

struct Pages {
  std::string path;     // With its query, if any.
  std::string_view of;  // The member that has the values.
  uint64_t limit = 0;   // Of values; 0: all.
};

Status ForEach(ApiSource& source, const Pages& pages,
               const std::function<void(const Json&)>& take) {
  const char separator = pages.path.find('?') == std::string::npos ? '?' : '&';
  uint64_t left = pages.limit == 0 ? UINT64_MAX : pages.limit;
  std::string cursor;
  do {
    const std::string path =
        fmt::format("{}{}limit={}{}", pages.path, separator, std::min(left, kMaxPage),
                    cursor.empty() ? "" : "&cursor=" + http::PercentEncode(cursor));
    const JsonDocument page = TRY(source.Need(path));
    if (const auto values = page.root().Find(pages.of)) {
      for (const Json value : values->Elements()) {
        if (left == 0) break;
        take(value);
        --left;
      }
    }
    cursor = TextIn(page.root(), "cursor");
  } while (!cursor.empty() && left > 0);
  return Done{};
}

// "1714557600.000100", also from a permalink or its end, "p1714557600000100".
std::string TsOf(const std::string& text) {
  const std::string link = text.substr(text.rfind('/') + 1, text.find('?') - text.rfind('/') - 1);
  const bool is_link = link.size() == 17 && link.front() == 'p' &&
                       link.find_first_not_of("0123456789", 1) == std::string::npos;
  return is_link ? fmt::format("{}.{}", link.substr(1, 10), link.substr(11)) : text;
}

// "https://example.slack.com/archives/C01234567/p1714557600000100?thread_ts=…" names a channel and
// a message. It may stand for both, or for the ts.
ArchiveReadOptions WithoutLink(ArchiveReadOptions options) {
  constexpr std::string_view kArchives = "/archives/";
  const size_t start = options.channel.find(kArchives);
  if (start != std::string::npos && options.ts.empty()) {
    options.ts = options.channel;
    const std::string rest = options.channel.substr(start + kArchives.size());
    options.channel = rest.substr(0, rest.find('/'));
  }
  options.ts = TsOf(options.ts);
  return options;
}

Status CheckTs(const ArchiveReadOptions& options) {
  if (!options.ts.empty()) return Done{};
  return Invalid("name a message by its channel and its ts, or by its permalink");
}

std::string FlagsOf(const Json& object, std::initializer_list<std::string_view> names) {
  std::string flags;
  for (std::string_view name : names) {
    if (IsTrueIn(object, name)) flags += fmt::format("{}{}", flags.empty() ? "" : " ", name);
  }
  return flags;
}

std::string ChannelNotesOf(const Json& channel) {
  std::string notes = FlagsOf(channel, {"archived", "deleted", "was_public"});
  const std::string next = CellOf(channel, "next_channel_id");
  if (!next.empty()) notes += fmt::format("{}now {}", notes.empty() ? "" : " ", next);
  return notes;
}

Cells ChannelCells(const Json& channel) {
  return {CellOf(channel, "channel_id"), CellOf(channel, "name"), CellOf(channel, "visibility"),
          ChannelNotesOf(channel), CellOf(channel, "topic")};
}

std::string AuthorOf(const Json& message) {
  for (std::string_view name : {"user_name", "user", "username", "bot_id"}) {
    std::string author = CellOf(message, name);
    if (!author.empty()) return author;
  }
  return "";
}

std::string NotesOf(const Json& message) {
  std::string notes = FlagsOf(message, {"deleted", "hidden", "purged", "stub"});
  const auto add = [&](const std::string& note) {
    notes += fmt::format("{}{}", notes.empty() ? "" : " ", note);
  };
  if (message.Find("updated_ts")) add("edited");
  const std::string thread = TextIn(message, "thread_ts");
  const bool is_reply = !thread.empty() && thread != TextIn(message, "ts");
  if (is_reply) add("reply");
  if (message.Find("reply_count")) {
    const auto replies = static_cast<uint64_t>(IntegerIn(message, "reply_count"));
    add(Counted(replies, "reply", "replies"));
  }
  if (const auto files = message.Find("files")) add(Counted(files->Size(), "file", "files"));
  if (const auto more = message.Find("attachments")) {
    add(Counted(more->Size(), "attachment", "attachments"));
  }
  return notes;
}

// A bot's message may have no text, and neither has a file that was sent without a word.
std::string TextOf(const Json& message) {
  std::string text = CellOf(message, "text");
  return text.empty() ? CellOf(message, "summary") : text;
}

Cells MessageCells(const Json& message) {
  return {FormatTime(TextIn(message, "ts")), CellOf(message, "ts"), AuthorOf(message),
          NotesOf(message), TextOf(message)};
}

std::vector<Column> MessageColumns() {
  return {{"TIME (UTC)"}, {"TS"}, {"BY", 24}, {"NOTES"}, {"TEXT", kTextWidth}};
}

Cells FileCells(const Json& file) {
  return {CellOf(file, "id"), CellOf(file, "name"), CellOf(file, "mimetype"), CellOf(file, "size"),
          file.Find("path")          ? "yes"
          : IsTrueIn(file, "failed") ? "failed"
                                     : "no"};
}

Cells PersonCells(const Json& person) {
  return {CellOf(person, "user"), CellOf(person, "shown_name"), CellOf(person, "real_name"),
          CellOf(person, "name"), FlagsOf(person, {"is_bot", "deactivated"})};
}

Cells EmojiCells(const Json& emoji) { return {CellOf(emoji, "name"), CellOf(emoji, "value")}; }

Cells FailedCells(const Json& message) {
  return {FormatTime(TextIn(message, "ts")), CellOf(message, "channel_id"), CellOf(message, "ts"),
          CellOf(message, "files_fetch_error")};
}

Cells IntervalCells(const std::string& channel, const Json& interval) {
  const std::string to = TextIn(interval, "to");
  return {channel, FormatTime(TextIn(interval, "from")), to.empty() ? "now" : FormatTime(to),
          CellOf(interval, "certainty"), CellOf(interval, "reason")};
}

std::vector<Column> IntervalColumns() {
  return {{"CHANNEL"}, {"FROM (UTC)"}, {"TO (UTC)"}, {"CERTAINTY"}, {"REASON", kTextWidth}};
}

// What a message has in addition to its own row.
void PrintDetail(const Json& detail) {
  std::string text;
  const auto add = [&](std::string_view title, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<12}{}\n", title, value);
  };
  const auto message = detail.Find("message");
  if (!message) return;
  const auto author = detail.Find("author");
  const std::string real_name = author ? CellOf(*author, "real_name") : "";
  add("time", FormatTime(TextIn(*message, "ts")));
  add("ts", CellOf(*message, "ts"));
  const std::string by = AuthorOf(*message);
  add("by", real_name.empty() || real_name == by ? by : fmt::format("{} ({})", by, real_name));
  add("notes", NotesOf(*message) + (IsTrueIn(detail, "pinned") ? " pinned" : ""));
  add("thread", CellOf(*message, "thread_ts"));
  add("deleted", FormatTime(TextIn(*message, "deleted_ts")));
  add("text", TextOf(*message));
  if (const auto versions = detail.Find("versions"); versions && versions->Size() > 1) {
    for (const Json version : versions->Elements()) {
      add("version",
          fmt::format("{}  {}", FormatTime(TextIn(version, "version")), CellOf(version, "text")));
    }
  }
  if (const auto reactions = detail.Find("reactions")) {
    for (const Json reaction : reactions->Elements()) {
      add("reaction", fmt::format("{} × {}  {}", CellOf(reaction, "reaction"),
                                  CellOf(reaction, "count"), CellOf(reaction, "users")));
    }
  }
  PrintText(text);
}

Result<std::optional<JsonDocument>> FindDetail(ApiSource& source,
                                               const ArchiveReadOptions& options) {
  const std::string channel = TRY(ChannelPath(source, options.source, options.channel));
  return source.Get(fmt::format("{}/messages/{}", channel, http::PercentEncode(options.ts)));
}

ExitCode NoSuchMessage(const ArchiveReadOptions& options) {
  PrintMessage(fmt::format("tidemark: there is no message {} in {}", options.ts, options.channel));
  return ExitCode::kNotMet;
}

// A file name without a path, even if the message has a name with a path. The id makes it unique.
std::string SafeName(const Json& file) {
  std::string name = TextIn(file, "id") + "-" + TextIn(file, "name");
  for (char& byte : name) {
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                          (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_' || byte == '.';
    if (!is_plain) byte = '_';
  }
  return name.substr(0, 200);
}

// False when there is nothing at the path.
Result<bool> Download(ApiSource& source, const std::string& path, const std::string& target) {
  std::ofstream stream(target, std::ios::binary | std::ios::trunc);
  const auto check = [&]() -> Status {
    if (stream) return Done{};
    return Error{ErrorCode::kUnavailable,
                 fmt::format("'{}' cannot be written: check the folder and its disk", target)};
  };
  const bool there = TRY(source.Read(path, [&](std::string_view piece) {
    stream.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    return check();
  }));
  stream.close();  // Writes the last bytes, which fails if the disk is full.
  TRY(check());
  return there;
}

std::string WhyNotStored(const Json& file, const Json& message) {
  if (IsTrueIn(file, "failed")) {
    return "it could not be fetched: " + CellOf(message, "files_fetch_error");
  }
  if (IsTrueIn(file, "is_external")) return "it is not at Slack but in another service";
  const std::string mode = CellOf(file, "mode");
  if (mode == "hidden_by_limit" || mode == "tombstone") {
    return fmt::format("Slack no longer offers it for download ({})", mode);
  }
  return "the archive does not have it: no server has fetched it yet";
}

// Returns the reason why the file was not saved, or nullopt if it was saved. Removes a file that
// was written in part: it would look like a complete one.
Result<std::optional<std::string>> SaveFile(ApiSource& source, const Json& file,
                                            const Json& message, const std::string& folder) {
  const std::string path = TextIn(file, "path");
  if (path.empty()) return std::optional(WhyNotStored(file, message));
  const std::string target = folder + "/" + SafeName(file);
  const Result<bool> there = Download(source, path, target);
  if (there && *there) return std::optional<std::string>();
  std::error_code ignored;
  std::filesystem::remove(target, ignored);
  if (!there) return there.error();
  return std::optional<std::string>(
      "its object is missing: 'tidemark archive verify' lists all missing objects");
}

}  // namespace

Result<ExitCode> ListChannels(const ArchiveReadOptions& options) {
  const auto source = TRY(OpenArchiveSource(options.source));
  const std::string team = TRY(TeamPath(*source, options.source));
  Printer printer(options.output,
                  {{"ID"}, {"NAME"}, {"VISIBILITY"}, {"NOTES"}, {"TOPIC", kTextWidth}},
                  ChannelCells);
  TRY(ForEach(*source, {team + "/channels", "channels"},
              [&](const Json& channel) { printer.Print(channel); }));
  return ExitCode::kOk;
}

Result<ExitCode> ListMessages(const MessagesOptions& options) {
  const auto source = TRY(OpenArchiveSource(options.read.source));
  const std::string channel = TRY(ChannelPath(*source, options.read.source, options.read.channel));
  std::string path =
      fmt::format("{}/messages?order={}", channel, options.newest_first ? "desc" : "asc");
  if (!options.from.empty()) path += "&from=" + http::PercentEncode(options.from);
  if (!options.to.empty()) path += "&to=" + http::PercentEncode(options.to);
  Printer printer(options.read.output, MessageColumns(), MessageCells);
  TRY(ForEach(*source, {path, "messages", options.limit},
              [&](const Json& message) { printer.Print(message); }));
  return ExitCode::kOk;
}

Result<ExitCode> ShowThread(const ArchiveReadOptions& given) {
  const ArchiveReadOptions options = WithoutLink(given);
  TRY(CheckTs(options));
  const auto source = TRY(OpenArchiveSource(options.source));
  const std::string channel = TRY(ChannelPath(*source, options.source, options.channel));
  Printer printer(options.output, MessageColumns(), MessageCells);
  TRY(ForEach(*source,
              {fmt::format("{}/threads/{}", channel, http::PercentEncode(options.ts)), "messages"},
              [&](const Json& message) { printer.Print(message); }));
  return ExitCode::kOk;
}

Result<ExitCode> ShowMessage(const ArchiveReadOptions& given) {
  const ArchiveReadOptions options = WithoutLink(given);
  TRY(CheckTs(options));
  const auto source = TRY(OpenArchiveSource(options.source));
  const std::optional<JsonDocument> detail = TRY(FindDetail(*source, options));
  if (!detail) return NoSuchMessage(options);
  if (IsTable(options.output)) {
    PrintDetail(detail->root());
  } else {
    PrintLine(ToText(detail->root()));
  }
  return ExitCode::kOk;
}

namespace {

Status CheckMessageNamed(const ArchiveReadOptions& options) {
  if (options.channel.empty() == options.ts.empty()) return Done{};
  return Invalid("name a message by its channel and its ts, or leave out both");
}

Result<ExitCode> ListFailedFiles(ApiSource& source, const ArchiveReadOptions& options) {
  const std::string team = TRY(TeamPath(source, options.source));
  Printer printer(options.output, {{"TIME (UTC)"}, {"CHANNEL"}, {"TS"}, {"ERROR", kTextWidth}},
                  FailedCells);
  TRY(ForEach(source, {team + "/failed-files", "messages"},
              [&](const Json& message) { printer.Print(message); }));
  return ExitCode::kOk;
}

// The paths of the messages to retry.
Result<std::vector<std::string>> PathsToRetry(ApiSource& source,
                                              const ArchiveReadOptions& options) {
  if (!options.channel.empty()) {
    const std::string channel = TRY(ChannelPath(source, options.source, options.channel));
    return std::vector{fmt::format("{}/messages/{}", channel, http::PercentEncode(options.ts))};
  }
  const std::string team = TRY(TeamPath(source, options.source));
  std::vector<std::string> paths;
  // All are listed first: a retry takes its message off the list.
  TRY(ForEach(source, {team + "/failed-files", "messages"}, [&](const Json& message) {
    paths.push_back(fmt::format("{}/channels/{}/messages/{}", team, TextIn(message, "channel_id"),
                                TextIn(message, "ts")));
  }));
  return paths;
}

}  // namespace

Result<ExitCode> RetryFiles(const ArchiveReadOptions& given) {
  const ArchiveReadOptions options = WithoutLink(given);
  TRY(CheckMessageNamed(options));
  const auto source = TRY(OpenArchiveSource(options.source, Use::kWrite));
  size_t retried = 0;
  for (const std::string& path : TRY(PathsToRetry(*source, options))) {
    const JsonDocument answer =
        TRY(source->Send({.method = http::Method::kPost, .path = path + "/retry-files"}));
    if (IsTrueIn(answer.root(), "retried")) ++retried;
  }
  if (IsTable(options.output)) {
    PrintText(fmt::format("the server fetches the files of {} messages again\n", retried));
  } else {
    PrintLine(fmt::format(R"({{"retried":{}}})", retried));
  }
  return ExitCode::kOk;
}

namespace {

Status MakeFolder(const std::string& folder) {
  if (folder.empty()) return Invalid("--save needs the name of a folder");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return Done{};
  return Invalid(fmt::format("the folder '{}' cannot be created: {}; name another one with --save",
                             folder, error.message()));
}

// Saves all files that the archive has. For every other file it prints why it was not saved.
Result<ExitCode> SaveFiles(ApiSource& source, const Json& message, const std::string& folder) {
  TRY(MakeFolder(folder));
  const auto files = message.Find("files");
  if (!files) {
    const bool is_hidden = IsTrueIn(message, "hidden") || IsTrueIn(message, "purged");
    PrintMessage(fmt::format("tidemark: nothing saved: {}",
                             is_hidden ? "the message was deleted, and its files are not shown"
                                       : "the message has no files"));
    return ExitCode::kNotMet;
  }
  ExitCode code = ExitCode::kOk;
  for (const Json file : files->Elements()) {
    const auto why_not = TRY(SaveFile(source, file, message, folder));
    if (!why_not) continue;
    PrintMessage(fmt::format("tidemark: not saved: {} ({}): {}", CellOf(file, "id"),
                             CellOf(file, "name"), *why_not));
    code = ExitCode::kNotMet;
  }
  return code;
}

}  // namespace

Result<ExitCode> ListFiles(const FilesCommandOptions& given) {
  FilesCommandOptions options = given;
  options.read = WithoutLink(given.read);
  TRY(CheckMessageNamed(options.read));
  if (options.save && options.read.channel.empty()) {
    return Invalid("--save saves the files of one message: name it by its channel and its ts");
  }
  const auto source = TRY(OpenArchiveSource(options.read.source));
  if (options.read.channel.empty()) return ListFailedFiles(*source, options.read);
  const std::optional<JsonDocument> detail = TRY(FindDetail(*source, options.read));
  const auto message = detail ? detail->root().Find("message") : std::nullopt;
  if (!message) return NoSuchMessage(options.read);
  {
    Printer printer(options.read.output, {{"ID"}, {"NAME"}, {"TYPE"}, {"SIZE"}, {"STORED"}},
                    FileCells);
    if (const auto files = message->Find("files")) {
      for (const Json file : files->Elements()) printer.Print(file);
    }
  }
  if (options.save) return SaveFiles(*source, *message, *options.save);
  const std::string error = CellOf(*message, "files_fetch_error");
  if (!error.empty()) PrintMessage("tidemark: not fetched: " + error);
  return ExitCode::kOk;
}

Result<ExitCode> ListPeople(const ArchiveReadOptions& options) {
  const auto source = TRY(OpenArchiveSource(options.source));
  const std::string team = TRY(TeamPath(*source, options.source));
  Printer printer(options.output, {{"ID"}, {"SHOWN AS"}, {"REAL NAME"}, {"HANDLE"}, {"NOTES"}},
                  PersonCells);
  TRY(ForEach(*source, {team + "/people", "people"},
              [&](const Json& person) { printer.Print(person); }));
  return ExitCode::kOk;
}

Result<ExitCode> ListEmoji(const ArchiveReadOptions& options) {
  const auto source = TRY(OpenArchiveSource(options.source));
  const std::string team = TRY(TeamPath(*source, options.source));
  Printer printer(options.output, {{"NAME"}, {"VALUE", kTextWidth}}, EmojiCells);
  TRY(ForEach(*source, {team + "/emoji", "emoji"},
              [&](const Json& emoji) { printer.Print(emoji); }));
  return ExitCode::kOk;
}

Result<ExitCode> ShowCoverage(const ArchiveReadOptions& options) {
  const auto source = TRY(OpenArchiveSource(options.source));
  std::string name;
  Printer printer(options.output, IntervalColumns(),
                  [&](const Json& interval) { return IntervalCells(name, interval); });
  const auto print = [&](const Json& object) {
    const auto intervals = object.Find("intervals");
    if (!intervals) return;
    for (const Json interval : intervals->Elements()) printer.Print(interval);
  };
  if (!options.channel.empty()) {
    const std::string path = TRY(ChannelPath(*source, options.source, options.channel));
    const JsonDocument coverage = TRY(source->Need(path + "/coverage"));
    name = options.channel;
    print(coverage.root());
    return ExitCode::kOk;
  }
  const std::string team = TRY(TeamPath(*source, options.source));
  TRY(ForEach(*source, {team + "/coverage", "channels"}, [&](const Json& channel) {
    name = CellOf(channel, "name");
    if (name.empty()) name = CellOf(channel, "channel_id");
    if (IsTable(options.output)) {
      print(channel);
    } else {
      PrintLine(ToText(channel));
    }
  }));
  return ExitCode::kOk;
}

Result<ExitCode> ShowStatus(const ArchiveReadOptions& options) {
  const auto source = TRY(OpenArchiveSource(options.source));
  const JsonDocument status = TRY(source->Need("/api/v1/archive/status"));
  if (!IsTable(options.output)) {
    PrintLine(ToText(status.root()));
    return ExitCode::kOk;
  }
  std::vector<Cells> rows;
  for (const auto& [name, value] : status.root().Members()) {
    if (name != "processors") rows.push_back({std::string(name), Printable(ToText(value))});
  }
  if (const auto processors = status.root().Find("processors")) {
    for (const Json one : processors->Elements()) {
      rows.push_back({CellOf(one, "name") + " is behind by", CellOf(one, "lag_seconds") + " s"});
    }
  }
  PrintText(FormatTable({{"WHAT"}, {"VALUE"}}, rows));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
