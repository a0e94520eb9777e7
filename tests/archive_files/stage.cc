#include "tests/archive_files/stage.h"

#include <algorithm>

#include <fmt/format.h>

#include "http/url.h"
#include "item/json.h"

namespace tidemark::archive {

namespace {

demo::Workspace MakeSmallWorkspace() {
  demo::Workspace workspace =
      demo::MakeWorkspace({.seed = 7, .users = 5, .channels = 8, .archived = 0, .files = 30});
  for (demo::File& file : workspace.files) file.size_bytes = 1'000 + file.size_bytes % 5'000;
  return workspace;
}

}  // namespace

FilesStage::FilesStage() : workspace(MakeSmallWorkspace()) {
  for (const demo::File& file : workspace.files) {
    if (file.external_url.empty()) files.push_back(file);
  }
  slack = demo::PretendSlack::Start({.bot_token = Secret(std::string(kCanary))}, workspace,
                                    {.clock = &system_clock, .random = &random})
              .value();
  EXPECT_TRUE(tables.CreateTable(
      {.table = kArchiveTable,
       .keys = {.partition = {.name = "itemId"}, .sort = item::KeyAttribute{.name = "timestamp"}},
       .stream = tables::StreamView::kNewAndOldImages}));
  EXPECT_TRUE(state.CreateTable());
  const Runtime runtime{.clock = clock,
                        .random = random,
                        .sleeper = sleeper,
                        .logger = logger,
                        .metrics = web_api_metrics};
  web_api = std::make_unique<slack::WebApi>(slack::WebApiOptions{.url = slack->api_url()}, &client,
                                            runtime);
  downloader = std::make_unique<slack::Downloader>(
      slack::DownloadOptions{.origins = {"http://" + slack->address()}}, &client);
  follower = tables::Follower::Open(tables, runtime, {.consumer = "files", .table = kArchiveTable})
                 .value();
  Rebuild({});
}

void FilesStage::Rebuild(FilesOptions options) {
  options.spool = folder.path() + "/spool";
  metrics = std::make_unique<Metrics>();
  processor = std::make_unique<Files>(options, FilesParts{.tables = archive_tables,
                                                          .objects = store,
                                                          .state = &state,
                                                          .downloader = downloader.get(),
                                                          .web_api = web_api.get(),
                                                          .token =
                                                              [this](const slack::TeamId&) {
                                                                before_fetch();
                                                                return token;
                                                              },
                                                          .runtime = {.clock = clock,
                                                                      .random = random,
                                                                      .sleeper = sleeper,
                                                                      .logger = logger,
                                                                      .metrics = *metrics}});
}

FileMeta FilesStage::MetaOf(const demo::File& file) const {
  return {.id = file.id,
          .name = file.name,
          .mimetype = file.mimetype,
          .size = static_cast<int64_t>(file.size_bytes),
          .url_private =
              fmt::format("{}/{}/{}", slack->files_url(), file.id, http::PercentEncode(file.name)),
          .mode = "hosted"};
}

Message FilesStage::MessageWith(const std::vector<std::string>& ids) {
  clock.Advance(std::chrono::seconds(1));
  Message message{
      .place = {.team = slack::TeamId::Parse(workspace.team.id).value(),
                .channel = slack::ChannelId::Parse(workspace.channels.front().id).value()},
      .ts = slack::Timestamp::FromSeconds(clock.NowSeconds())};
  for (const std::string& id : ids) {
    message.traits.files.push_back(MetaOf(*demo::FindFile(workspace, id)));
  }
  std::sort(message.traits.files.begin(), message.traits.files.end());
  message.body = Body{.version = message.ts, .event_ts = message.ts, .text = "see the file"};
  return message;
}

void FilesStage::Put(const Message& message) {
  ASSERT_TRUE(tables.Put({.table = kArchiveTable, .item = Encode(message)}));
}

Message FilesStage::Get(const Message& message) {
  const auto row = tables.Get(
      {.table = kArchiveTable, .key = KeyOf(MessagesOf(message.place), message.ts.text())});
  return DecodeMessage(row.value().value()).value();
}

void FilesStage::Run() {
  const auto notice = [this](const tables::StreamRecord& record) {
    return processor->Notice(record);
  };
  for (size_t handled = 1; handled > 0;) {
    const auto reply = follower->Step(notice);
    ASSERT_TRUE(reply) << reply.error().message;
    const Status stepped = processor->Step();
    ASSERT_TRUE(stepped) << stepped.error().message;
    handled = reply->handled;
  }
}

bool FilesStage::RunNext() {
  const auto waiting = state.DueFetches(clock.NowSeconds() + 1'000'000, 1).value();
  if (waiting.empty()) return false;
  const auto wait = std::max<EpochSeconds>(waiting.front().due - clock.NowSeconds(), 0);
  clock.Advance(std::chrono::seconds(wait));
  Run();
  return true;
}

void FilesStage::RunAll() {
  Run();
  for (int rounds = 0; RunNext(); ++rounds) ASSERT_LT(rounds, 50) << "it never ends";
}

double FilesStage::Counted(const std::string& result) const {
  std::istringstream lines(metrics->Expose());
  const std::string name = fmt::format("tidemark_archive_files_total{{result=\"{}\"}} ", result);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return std::stod(line.substr(name.size()));
  }
  return -1;
}

std::string FilesStage::KeyOfObject(const Message& message, const std::string& file) const {
  return ObjectKeyOf(message.place, message.ts, file).value();
}

std::string FilesStage::UriOf(const Message& message, const std::string& file) const {
  return "s3://slack-archive/" + KeyOfObject(message, file);
}

std::string FilesStage::Everything() {
  std::string text = log.str();
  for (const char* table : {kArchiveTable, kStateTable}) {
    const auto page = tables.Scan({.table = table}).value();
    for (const item::Item& row : page.items) {
      text += item::ToJson(row) + "\n";
    }
  }
  return text;
}

void FilesStage::ExpectComplete(const Message& message, const std::vector<std::string>& ids) {
  const Message row = Get(message);
  std::vector<std::string> uris;
  for (const std::string& id : ids) uris.push_back(UriOf(message, id));
  std::sort(uris.begin(), uris.end());
  EXPECT_EQ(row.files_s3, uris);
  EXPECT_FALSE(row.files_fetch_failed) << row.files_fetch_error;
  EXPECT_EQ(row.files_fetch_error, "");
  EXPECT_EQ(state.CountFetches().value(), 0u);
}

void FilesStage::ExpectFailed(const Message& message, const std::string& reason) {
  const Message row = Get(message);
  EXPECT_TRUE(row.files_fetch_failed);
  EXPECT_NE(row.files_fetch_error.find(reason), std::string::npos) << row.files_fetch_error;
  EXPECT_EQ(state.CountFetches().value(), 0u);
}

}  // namespace tidemark::archive
