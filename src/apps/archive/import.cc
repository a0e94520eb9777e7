#include "apps/archive/import.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/archive_table.h"
#include "apps/archive/import_row.h"
#include "apps/archive/json_fields.h"
#include "base/worker_pool.h"
#include "slack/event.h"

namespace tidemark::archive {

// ---- The team of an export ----

namespace {

constexpr size_t kMaxDaysLookedAt = 20;

class TeamVotes {
 public:
  void Add(const Json& row, std::string_view field) {
    const auto value = row.Find(field);
    const auto team = slack::TeamId::Parse(value ? value->AsString().value_or("") : "");
    if (team) ++counts_[*team];
  }
  std::optional<slack::TeamId> Winner() const {
    const auto most = std::max_element(
        counts_.begin(), counts_.end(),
        [](const auto& left, const auto& right) { return left.second < right.second; });
    return most == counts_.end() ? std::nullopt : std::optional(most->first);
  }

 private:
  std::map<slack::TeamId, uint64_t> counts_;
};

std::string_view FolderName(std::string_view folder) {
  const size_t slash = folder.rfind('/');
  return slash == std::string_view::npos ? folder : folder.substr(slash + 1);
}

Result<std::optional<slack::TeamId>> GivenTeam(const std::vector<std::string>& given,
                                               std::string_view folder) {
  std::optional<slack::TeamId> for_all;
  for (const std::string& text : given) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos) {
      for_all = TRY(slack::TeamId::Parse(text));
    } else if (text.substr(0, sign) == FolderName(folder)) {
      return std::optional(TRY(slack::TeamId::Parse(text.substr(sign + 1))));
    }
  }
  return for_all;
}

std::optional<slack::TeamId> TeamOfUsers(const ExportWorkspace& workspace, ExportReader* reader) {
  TeamVotes votes;
  if (workspace.users) {
    reader->ReadObjects(*workspace.users, [&](const Json& user) { votes.Add(user, "team_id"); });
  }
  return votes.Winner();
}

std::optional<slack::TeamId> TeamOfMessages(const ExportWorkspace& workspace,
                                            ExportReader* reader) {
  TeamVotes votes;
  size_t looked_at = 0;
  for (const ExportConversation& conversation : workspace.conversations) {
    for (const ExportFile& day : conversation.days) {
      if (++looked_at > kMaxDaysLookedAt) return votes.Winner();
      reader->ReadObjects(day, [&](const Json& message) { votes.Add(message, "team"); });
    }
  }
  return votes.Winner();
}

}  // namespace

// On Enterprise Grid all workspaces share one list of users (org_users.json). It does not tell the
// team of a single workspace and is not used.
Result<slack::TeamId> FindTeam(const ExportWorkspace& workspace,
                               const std::vector<std::string>& given, ExportReader* reader) {
  if (const auto team = TRY(GivenTeam(given, workspace.folder))) return *team;
  const bool has_own_users =
      workspace.users && workspace.users->name.find("org_users") == std::string::npos;
  if (has_own_users) {
    if (const auto team = TeamOfUsers(workspace, reader)) return *team;
  }
  if (const auto team = TeamOfMessages(workspace, reader)) return *team;
  const std::string flag = workspace.folder.empty()
                               ? "--team T01234567"
                               : fmt::format("--team {}=T01234567", FolderName(workspace.folder));
  return Invalid(
      fmt::format("the export does not say which team it belongs to: give the id with {}", flag));
}

// ---- The import ----

namespace {

using slack::Timestamp;

// A chunk is what one thread reads and writes at a time: large enough that its rows share a sync,
// small enough to hold several in memory.
constexpr size_t kMaxChunkRows = 500;
constexpr size_t kMaxChunkBytes = 1 << 20;
constexpr size_t kMaxNewsTogether = 500;

bool IsPublic(const ExportConversation& conversation) {
  return conversation.kind == ConversationKind::kPublic;
}

struct RowSpan {
  Timestamp from;
  Timestamp to;

  void Cover(const Timestamp& ts) {
    from = std::min(from, ts);
    to = std::max(to, ts);
  }
};

// The result of reading the file of one day.
struct Day {
  bool whole = true;                           // Every row was read and could be used.
  std::optional<RowSpan> rows = std::nullopt;  // From the first to the last one.

  void Cover(const Timestamp& ts) {
    if (!rows) rows = RowSpan{ts, ts};
    rows->Cover(ts);
  }
};

// The import of one conversation.
struct Job {
  const ExportConversation* conversation = nullptr;
  Place place;
  std::vector<Day> days = {};  // Those of the conversation.
  bool is_stopped = false;     // Not all files were read.

  // The spans of time for which the export has every row, each from its first to its last row. An
  // export has no file for a day without messages, so a span goes on over missing days. It ends
  // before a file that was not read completely: nobody knows which rows are missing there.
  std::vector<RowSpan> KnownSpans() const {
    std::vector<RowSpan> spans;
    bool goes_on = false;
    for (const Day& day : days) {
      if (!day.whole) goes_on = false;
      if (!day.whole || !day.rows) continue;
      if (!goes_on) spans.push_back(*day.rows);
      spans.back().Cover(day.rows->from);
      spans.back().Cover(day.rows->to);
      goes_on = true;
    }
    return spans;
  }
};

// Rows of one conversation, from one or more days.
struct Chunk {
  struct Row {
    size_t begin = 0;
    size_t size = 0;
    size_t day = 0;  // Its index in the conversation.
  };
  Job* job = nullptr;
  // Null unless this is a dry run. All chunks of the conversation share it.
  std::shared_ptr<SeenRows> seen = nullptr;
  std::string text = {};
  std::vector<Row> rows = {};

  bool IsFull() const { return rows.size() >= kMaxChunkRows || text.size() >= kMaxChunkBytes; }
  void Add(std::string_view row, size_t day) {
    rows.push_back({text.size(), row.size(), day});
    text += row;
  }
  const ExportFile& FileOf(const Row& row) const { return job->conversation->days[row.day]; }
  std::string_view TextOf(const Row& row) const {
    return std::string_view(text).substr(row.begin, row.size);
  }
};

// What channels.json says about a channel, as news with the time from which each value holds. The
// name is the one that the channel had when the export was made: it may have had others before.
std::vector<ChannelNews> ListedNewsOf(const ExportConversation& conversation, int64_t exported) {
  const auto created = Timestamp::FromSeconds(conversation.created);
  ChannelNews made{
      .channel = conversation.channel,
      .event_ts = created,
      .visibility = IsPublic(conversation) ? Visibility::kPublic : Visibility::kPrivate};
  if (conversation.archived) made.archived = true;
  std::vector<ChannelNews> news = {made};
  if (!conversation.name.empty()) {
    const auto named = Timestamp::FromSeconds(std::max(conversation.created, exported));
    news.push_back({.channel = conversation.channel, .event_ts = named, .name = conversation.name});
  }
  const auto add = [&](const DatedText& dated, auto field) {
    if (dated.text.empty() && dated.set == 0) return;
    ChannelNews one{.channel = conversation.channel,
                    .event_ts = dated.set == 0 ? created : Timestamp::FromSeconds(dated.set)};
    one.*field = dated.text;
    news.push_back(std::move(one));
  };
  add(conversation.topic, &ChannelNews::topic);
  add(conversation.purpose, &ChannelNews::purpose);
  return news;
}

class Importer {
 public:
  Importer(const ImportOptions& options, const ImportParts& parts, ImportProgress* progress)
      : options_(options),
        parts_(parts),
        progress_(*progress),
        writer_(parts.archive, parts.tables, options.mode),
        now_(Timestamp::FromSeconds(parts.clock->NowSeconds())) {}

  Result<ImportReport> Run(const std::string& path);

 private:
  Status AddWorkspace(const ExportWorkspace& workspace);
  Status StoreUsers(const ExportFile& file, const slack::TeamId& team);
  Status StoreChannels(const std::vector<Job*>& jobs, const slack::TeamId& team);
  Status StorePins(const std::vector<Job*>& jobs, const slack::TeamId& team);
  Status StoreMessages();
  void ReadDays(Job* job, Chunk* chunk);
  void NoteStop(Job* job);
  void Send(Chunk chunk);
  Status Process(const Chunk& chunk);
  struct Rows;
  Rows Parse(const Chunk& chunk);
  Status NoteTooLarge(const Place& place, const Timestamp& ts, const ExportFile& file);
  Status MarkCoverage();
  Status MarkImported(const Place& place, RowSpan span);
  Status SetNames();

  void Fail(const Error& error);
  std::optional<Error> failure();
  ReadOptions read_options() const {
    return {.raw_events = parts_.archive == nullptr || parts_.archive->options().raw_events};
  }

  const ImportOptions& options_;
  const ImportParts& parts_;
  ImportProgress& progress_;
  ImportWriter writer_;
  const Timestamp now_;
  Problems problems_;
  std::unique_ptr<ExportReader> reader_;
  std::vector<std::unique_ptr<Job>> jobs_;

  std::mutex mutex_;  // Guards the members below while workers run.
  ImportReport report_;
  std::optional<Error> failure_;

  // Limits how many chunks are in memory. Destroyed after the workers, which use it.
  std::unique_ptr<std::counting_semaphore<>> room_;
  std::unique_ptr<WorkerPool> workers_;
};

Result<ImportReport> Importer::Run(const std::string& path) {
  const std::chrono::nanoseconds started = parts_.clock->Monotonic();
  reader_ = TRY(ExportReader::Open(path, &problems_));
  for (const ExportWorkspace& workspace : reader_->workspaces()) TRY(AddWorkspace(workspace));
  TRY(StoreMessages());
  if (options_.mode == ImportMode::kStore) {
    TRY(MarkCoverage());
    TRY(SetNames());
  }
  report_.total_files = progress_.total_files;
  report_.attachments = reader_->attachments().size();
  if (report_.attachments > 0) report_.first_attachment = reader_->attachments().front().name;
  report_.problems = problems_.count();
  report_.examples = problems_.examples();
  const auto took = parts_.clock->Monotonic() - started;
  report_.seconds = std::chrono::duration<double>(took).count();
  return std::move(report_);
}

Status Importer::AddWorkspace(const ExportWorkspace& workspace) {
  const slack::TeamId team = TRY(FindTeam(workspace, options_.teams, reader_.get()));
  std::vector<Job*> jobs;
  for (const ExportConversation& conversation : workspace.conversations) {
    if (!IsPublic(conversation) && !options_.with_private) {
      ++report_.private_left_out;
      continue;
    }
    jobs_.push_back(std::make_unique<Job>(Job{.conversation = &conversation,
                                              .place = {team, conversation.channel},
                                              .days = std::vector<Day>(conversation.days.size())}));
    jobs.push_back(jobs_.back().get());
    progress_.total_files += conversation.days.size();
    for (const ExportFile& day : conversation.days) progress_.total_bytes += day.size_bytes;
  }
  report_.teams.push_back(team.text());
  if (parts_.state != nullptr && options_.mode == ImportMode::kStore) {
    TRY(parts_.state->AddTeam(team));
  }
  if (workspace.users) TRY(StoreUsers(*workspace.users, team));
  TRY(StoreChannels(jobs, team));
  return StorePins(jobs, team);
}

Status Importer::StoreUsers(const ExportFile& file, const slack::TeamId& team) {
  std::vector<News> news;
  Status status = Done{};
  const auto flush = [&] {
    if (!status) return;
    const Result<StoreCounts> counts = writer_.StoreNews(team, std::exchange(news, {}));
    if (!counts) status = counts.error();
  };
  reader_->ReadObjects(file, [&](const Json& user) {
    const auto updated = user.Find("updated");
    // Without a time the user counts as known since the beginning.
    const auto since = Timestamp::FromSeconds(updated ? updated->AsInt().value_or(0) : 0);
    std::optional<UserNews> one = ReadUser(user, since);
    if (!one) return problems_.Add(file.name, "a user without a valid id");
    ++report_.users;
    news.push_back(*std::move(one));
    if (news.size() >= kMaxNewsTogether) flush();
  });
  flush();
  return status;
}

// A channel may have several news, all about the same row, and a transaction may not write a row
// twice. So the first news of all channels are stored together, then the second ones, and so on.
Status Importer::StoreChannels(const std::vector<Job*>& jobs, const slack::TeamId& team) {
  report_.channels += jobs.size();
  std::vector<std::vector<News>> rounds;
  for (const Job* job : jobs) {
    std::vector<ChannelNews> news = ListedNewsOf(*job->conversation, reader_->newest_day());
    rounds.resize(std::max(rounds.size(), news.size()));
    for (size_t i = 0; i < news.size(); ++i) {
      rounds[i].push_back(ScopedChannelNews{std::move(news[i]), Scope::kPublic});
    }
  }
  for (const std::vector<News>& round : rounds) TRY(writer_.StoreNews(team, round));
  return Done{};
}

// The list of channels says which messages are pinned, and when they were pinned. A later event
// about the pin replaces this. A pin without a time has the time of its message.
Status Importer::StorePins(const std::vector<Job*>& jobs, const slack::TeamId& team) {
  std::vector<News> news;
  for (const Job* job : jobs) {
    for (const ExportPin& pin : job->conversation->pins) {
      news.push_back(
          PinNews{.channel = job->conversation->channel,
                  .ts = pin.ts,
                  .user = pin.user,
                  .event_ts = pin.pinned == 0 ? pin.ts : Timestamp::FromSeconds(pin.pinned),
                  .scope = Scope::kPublic});
    }
  }
  report_.pins += TRY(writer_.StoreNews(team, news)).updated;
  return Done{};
}

// One thread reads the export, several write. `room_` limits the chunks in memory: the reader waits
// until a writer is done.
Status Importer::StoreMessages() {
  const size_t threads = std::max<size_t>(options_.threads, 1);
  room_ = std::make_unique<std::counting_semaphore<>>(static_cast<ptrdiff_t>(threads + 1));
  workers_ = std::make_unique<WorkerPool>(
      WorkerPoolOptions{.threads = threads, .max_waiting = 2 * threads});
  for (const std::unique_ptr<Job>& job : jobs_) {
    Chunk chunk{.job = job.get()};
    if (options_.mode == ImportMode::kDryRun) chunk.seen = std::make_shared<SeenRows>();
    ReadDays(job.get(), &chunk);
    if (!chunk.rows.empty()) Send(std::move(chunk));
  }
  workers_->Stop();
  if (failure_) return *failure_;
  return Done{};
}

// A chunk may have rows of several days, so that a conversation with few messages a day still gets
// large transactions.
void Importer::ReadDays(Job* job, Chunk* chunk) {
  for (size_t i = 0; i < job->days.size(); ++i) {
    if (failure()) return;
    if (options_.is_stopped()) return NoteStop(job);
    const ExportFile& file = job->conversation->days[i];
    bool is_cut = false;  // The rest of a large file is not stored.
    const bool whole = reader_->ReadRows(file, [&](std::string_view row) {
      if (is_cut) return;
      chunk->Add(row, i);
      if (!chunk->IsFull()) return;
      Send(std::exchange(*chunk, Chunk{.job = job, .seen = chunk->seen}));
      is_cut = options_.is_stopped();
    });
    if (is_cut) return NoteStop(job);
    ++progress_.files;
    progress_.bytes += file.size_bytes;
    std::lock_guard lock(mutex_);
    if (!whole) job->days[i].whole = false;
    ++report_.files;
    report_.last_file = file.name;
    report_.unreadable_files += whole ? 0 : 1;
    report_.bytes += file.size_bytes;
  }
}

void Importer::NoteStop(Job* job) {
  std::lock_guard lock(mutex_);
  job->is_stopped = true;
  report_.is_stopped = true;
}

void Importer::Send(Chunk chunk) {
  room_->acquire();
  auto shared = std::make_shared<const Chunk>(std::move(chunk));
  const bool taken = workers_->Submit([this, shared] {
    try {
      const Status done = failure() ? Status(Done{}) : Process(*shared);
      if (!done) Fail(done.error());
    } catch (const std::exception& error) {  // For example, no memory. It would end the server.
      Fail(Error{ErrorCode::kInternal, fmt::format("the import failed: {}", error.what())});
    }
    room_->release();
  });
  CHECK(taken);  // The pool's queue is longer than `room_` allows chunks.
}

// What the rows of a chunk say.
struct Importer::Rows {
  std::vector<ImportedMessage> messages;
  std::map<Timestamp, size_t> days;  // Of the messages.
  std::vector<News> changes;         // Of the channel.
  uint64_t left_out = 0;
  // The time of each row that was read. It may differ from the time of its message: a row about an
  // edit of an old message does not show that the rows since that message are in the export.
  std::vector<std::pair<size_t, Timestamp>> read = {};
  std::vector<size_t> bad = {};  // The days of rows that cannot be used.
};

Importer::Rows Importer::Parse(const Chunk& chunk) {
  const ImportContext context{.place = chunk.job->place,
                              .is_public = IsPublic(*chunk.job->conversation),
                              .now = now_,
                              .read = read_options()};
  Rows rows;
  rows.messages.reserve(chunk.rows.size());
  for (const Chunk::Row& row : chunk.rows) {
    const Result<JsonDocument> document = slack::ParseBody(WithoutLinkTokens(chunk.TextOf(row)));
    ImportedRow read = document ? ReadImportedRow(document->root(), context)
                                : ImportedRow(BadRow{document.error().message});
    const auto ts = document ? TimestampIn(document->root(), "ts") : std::nullopt;
    if (ts) rows.read.emplace_back(row.day, *ts);
    if (auto* message = std::get_if<ImportedMessage>(&read)) {
      rows.days.emplace(message->news.ts, row.day);
      rows.messages.push_back(std::move(*message));
    } else if (auto* change = std::get_if<ScopedChannelNews>(&read)) {
      rows.changes.push_back(std::move(*change));
    } else if (const auto* fault = std::get_if<BadRow>(&read)) {
      problems_.Add(chunk.FileOf(row).name, fault->reason);
      rows.bad.push_back(row.day);
    } else {
      ++rows.left_out;
    }
  }
  return rows;
}

// Runs on a worker. Stores what the rows of the chunk say, and adds up the counts.
Status Importer::Process(const Chunk& chunk) {
  Job& job = *chunk.job;
  const Rows rows = Parse(chunk);
  TRY(writer_.StoreNews(job.place.team, rows.changes));
  const StoreCounts counts = TRY(writer_.StoreMessages(job.place, rows.messages, chunk.seen.get()));
  for (const Timestamp& ts : counts.too_large) {
    TRY(NoteTooLarge(job.place, ts, job.conversation->days[rows.days.at(ts)]));
  }
  progress_.messages += rows.messages.size();
  std::lock_guard lock(mutex_);
  report_.messages += counts;
  report_.left_out += rows.left_out + rows.changes.size();
  report_.bad += rows.bad.size() + counts.too_large.size();
  for (const auto& [day, ts] : rows.read) job.days[day].Cover(ts);
  for (const size_t day : rows.bad) job.days[day].whole = false;
  return Done{};
}

// No row has room for the message. Its time is not imported: it counts as lost.
Status Importer::NoteTooLarge(const Place& place, const Timestamp& ts, const ExportFile& file) {
  problems_.Add(file.name,
                fmt::format("the message {} is too large for a row of 400 KB", ts.text()));
  if (options_.mode == ImportMode::kDryRun) return Done{};
  return parts_.ledger->Add(place.team, {.channel = place.channel,
                                         .kind = CoverageKind::kLost,
                                         .from = ts,
                                         .to = Timestamp::FromSeconds(ts.seconds() + 1),
                                         .reason = "a message of the export is too large"});
}

Status Importer::MarkCoverage() {
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (job->is_stopped) continue;
    for (const RowSpan& span : job->KnownSpans()) TRY(MarkImported(job->place, span));
  }
  return Done{};
}

// A single message does not cover any time. The key of a mark is its beginning. If a mark of an
// earlier import has the same beginning, the new mark begins where the earlier one ends.
Status Importer::MarkImported(const Place& place, RowSpan span) {
  for (const CoverageNews& mark : TRY(parts_.ledger->Marks(place))) {
    if (mark.kind != CoverageKind::kImported || !mark.to || span.from < mark.from) continue;
    if (span.to <= *mark.to) return Done{};
    if (mark.from == span.from) span.from = *mark.to;
  }
  if (span.to <= span.from) return Done{};
  return parts_.ledger->Add(place.team, {.channel = place.channel,
                                         .kind = CoverageKind::kImported,
                                         .from = span.from,
                                         .to = span.to});
}

// Usually the processors of a server keep the channel index. The import may run without a server,
// so it enters its channels itself.
Status Importer::SetNames() {
  const ArchiveTable table(parts_.tables, parts_.archive->options().table);
  for (const std::unique_ptr<Job>& job : jobs_) {
    const auto channel = TRY(table.FindChannel(job->place));
    if (!channel) continue;
    const std::string name = IndexName(*channel);
    if (TRY(parts_.index->Find(job->place)) == name) continue;
    TRY(parts_.index->Set(job->place, name));
  }
  return Done{};
}

void Importer::Fail(const Error& error) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = error;
}

std::optional<Error> Importer::failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace

Result<ImportReport> ImportExport(const std::string& path, const ImportOptions& options,
                                  const ImportParts& parts, ImportProgress* progress) {
  return Importer(options, parts, progress).Run(path);
}

}  // namespace tidemark::archive
