#include "apps/archive/import.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/import_row.h"
#include "apps/archive/import_team.h"
#include "apps/archive/partition.h"
#include "base/worker_pool.h"
#include "slack/event.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

// What is read and written at a time: enough to share a sync, few enough to hold several.
constexpr size_t kMaxChunkRows = 500;
constexpr size_t kMaxChunkBytes = 1 << 20;
constexpr size_t kMaxNewsTogether = 500;

bool IsPublic(const ExportConversation& conversation) {
  return conversation.kind == ConversationKind::kPublic;
}

// A conversation while it is imported.
struct Job {
  const ExportConversation* conversation = nullptr;
  Place place;
  bool whole = true;  // Every file could be read.
  std::optional<Timestamp> first = std::nullopt;
  std::optional<Timestamp> last = std::nullopt;

  void Cover(const Timestamp& ts) {
    if (!first || ts < *first) first = ts;
    if (!last || *last < ts) last = ts;
  }
};

// Rows of one conversation, of one or more days.
struct Chunk {
  struct Row {
    size_t begin = 0;
    size_t size = 0;
    const ExportFile* file = nullptr;
  };
  Job* job = nullptr;
  std::string text = {};
  std::vector<Row> rows = {};

  bool IsFull() const { return rows.size() >= kMaxChunkRows || text.size() >= kMaxChunkBytes; }
  void Add(std::string_view row, const ExportFile& file) {
    rows.push_back({text.size(), row.size(), &file});
    text += row;
  }
  std::string_view TextOf(const Row& row) const {
    return std::string_view(text).substr(row.begin, row.size);
  }
};

// What a list says of a channel, each with the time from which it holds.
std::vector<ChannelNews> NewsOf(const ExportConversation& conversation) {
  const auto created = Timestamp::FromSeconds(conversation.created);
  ChannelNews made{
      .channel = conversation.channel,
      .event_ts = created,
      .visibility = IsPublic(conversation) ? Visibility::kPublic : Visibility::kPrivate};
  if (!conversation.name.empty()) made.name = conversation.name;
  if (conversation.archived) made.archived = true;
  std::vector<ChannelNews> news = {made};
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
  Status StoreMessages();
  void ReadDays(Job* job, Chunk* chunk);
  void Send(Chunk chunk);
  Status Process(const Chunk& chunk);
  Status MarkCoverage();
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

  std::mutex mutex_;  // For what follows, while workers run.
  ImportReport report_;
  std::optional<Error> failure_;

  std::unique_ptr<WorkerPool> workers_;
  // How many chunks are held at once.
  std::unique_ptr<std::counting_semaphore<>> room_;
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
    jobs_.push_back(std::make_unique<Job>(
        Job{.conversation = &conversation, .place = {team, conversation.channel}}));
    jobs.push_back(jobs_.back().get());
    progress_.total_files += conversation.days.size();
    for (const ExportFile& day : conversation.days) progress_.total_bytes += day.size_bytes;
  }
  report_.teams.push_back(team.text());
  if (parts_.state != nullptr && options_.mode == ImportMode::kStore) {
    TRY(parts_.state->AddTeam(team));
  }
  if (workspace.users) TRY(StoreUsers(*workspace.users, team));
  return StoreChannels(jobs, team);
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
    // A user of whom it is not said since when counts as known from the beginning.
    const auto since = Timestamp::FromSeconds(updated ? updated->AsInt().value_or(0) : 0);
    std::optional<UserNews> one = ReadUser(user, since);
    if (!one) return problems_.Add(file.name, "a user without a proper id");
    ++report_.users;
    news.push_back(*std::move(one));
    if (news.size() >= kMaxNewsTogether) flush();
  });
  flush();
  return status;
}

// In rounds, so that the news of one round are about different rows.
Status Importer::StoreChannels(const std::vector<Job*>& jobs, const slack::TeamId& team) {
  report_.channels += jobs.size();
  std::vector<std::vector<News>> rounds;
  for (const Job* job : jobs) {
    std::vector<ChannelNews> news = NewsOf(*job->conversation);
    rounds.resize(std::max(rounds.size(), news.size()));
    for (size_t i = 0; i < news.size(); ++i) {
      rounds[i].push_back(ScopedChannelNews{std::move(news[i]), Scope::kPublic});
    }
  }
  for (const std::vector<News>& round : rounds) TRY(writer_.StoreNews(team, round));
  return Done{};
}

Status Importer::StoreMessages() {
  const size_t threads = std::max<size_t>(options_.threads, 1);
  room_ = std::make_unique<std::counting_semaphore<>>(static_cast<ptrdiff_t>(threads + 1));
  workers_ = std::make_unique<WorkerPool>(
      WorkerPoolOptions{.threads = threads, .max_waiting = 2 * threads});
  for (const std::unique_ptr<Job>& job : jobs_) {
    Chunk chunk{.job = job.get()};
    ReadDays(job.get(), &chunk);
    if (!chunk.rows.empty()) Send(std::move(chunk));
  }
  workers_->Stop();
  if (failure_) return *failure_;
  return Done{};
}

void Importer::ReadDays(Job* job, Chunk* chunk) {
  for (const ExportFile& day : job->conversation->days) {
    if (failure()) return;
    const bool whole = reader_->ReadRows(day, [&](std::string_view row) {
      chunk->Add(row, day);
      if (chunk->IsFull()) Send(std::exchange(*chunk, Chunk{.job = job}));
    });
    job->whole = job->whole && whole;
    ++progress_.files;
    progress_.bytes += day.size_bytes;
    std::lock_guard lock(mutex_);
    ++report_.files;
    report_.unreadable_files += whole ? 0 : 1;
    report_.bytes += day.size_bytes;
  }
}

void Importer::Send(Chunk chunk) {
  room_->acquire();
  auto shared = std::make_shared<const Chunk>(std::move(chunk));
  const bool taken = workers_->Submit([this, shared] {
    const Status done = failure() ? Status(Done{}) : Process(*shared);
    if (!done) Fail(done.error());
    room_->release();
  });
  CHECK(taken);  // There are as many places as there is room.
}

Status Importer::Process(const Chunk& chunk) {
  const ImportContext context{.place = chunk.job->place,
                              .is_public = IsPublic(*chunk.job->conversation),
                              .now = now_,
                              .read = read_options()};
  std::vector<ImportedMessage> messages;
  messages.reserve(chunk.rows.size());
  std::vector<News> changes;
  uint64_t left_out = 0;
  uint64_t bad = 0;
  for (const Chunk::Row& row : chunk.rows) {
    const Result<JsonDocument> document = slack::ParseBody(WithoutLinkTokens(chunk.TextOf(row)));
    ImportedRow read = document ? ReadImportedRow(document->root(), context)
                                : ImportedRow(BadRow{document.error().message});
    if (auto* message = std::get_if<ImportedMessage>(&read)) {
      messages.push_back(std::move(*message));
    } else if (auto* change = std::get_if<ScopedChannelNews>(&read)) {
      changes.push_back(std::move(*change));
    } else if (const auto* fault = std::get_if<BadRow>(&read)) {
      problems_.Add(row.file->name, fault->reason);
      ++bad;
    } else {
      ++left_out;
    }
  }
  left_out += changes.size();
  TRY(writer_.StoreNews(chunk.job->place.team, changes));
  const StoreCounts counts = TRY(writer_.StoreMessages(chunk.job->place, messages));
  progress_.messages += messages.size();
  std::lock_guard lock(mutex_);
  report_.messages += counts;
  report_.left_out += left_out;
  report_.bad += bad;
  for (const ImportedMessage& message : messages) chunk.job->Cover(message.news.ts);
  return Done{};
}

// A mark that begins where an earlier one does is not written again: what this export has beyond
// that one begins where that one ends.
Status Importer::MarkCoverage() {
  for (const std::unique_ptr<Job>& job : jobs_) {
    if (!job->whole || !job->first) continue;
    Timestamp from = *job->first;
    bool is_known = false;
    for (const CoverageNews& mark : TRY(parts_.ledger->Marks(job->place))) {
      if (mark.kind != CoverageKind::kImported || !mark.to || from < mark.from) continue;
      is_known = is_known || *job->last <= *mark.to;
      if (mark.from == from) from = *mark.to;
    }
    if (is_known) continue;
    TRY(parts_.ledger->Add(job->place.team, {.channel = job->place.channel,
                                             .kind = CoverageKind::kImported,
                                             .from = from,
                                             .to = *job->last}));
  }
  return Done{};
}

// The index follows the channels' rows where a server runs. Here none may, and nobody should have
// to wait for one to find what was imported.
Status Importer::SetNames() {
  const std::string& table = parts_.archive->options().table;
  for (const std::unique_ptr<Job>& job : jobs_) {
    const auto rows =
        TRY(QueryAll(*parts_.tables, PartitionQuery(table, RowsOfChannel(job->place))));
    if (rows.empty()) continue;
    const std::string name = IndexName(TRY(JoinRows(rows)));
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
