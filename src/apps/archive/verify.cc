#include "apps/archive/verify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/archive_table.h"
#include "apps/archive/attributes.h"
#include "apps/archive/channel.h"
#include "apps/archive/keys.h"
#include "apps/archive/message.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

constexpr std::string_view kUriScheme = "s3://";

// The key in "s3://bucket/key"; empty when the URI has another form.
std::string_view KeyOfUri(std::string_view uri) {
  if (!uri.starts_with(kUriScheme)) return "";
  const size_t slash = uri.find('/', kUriScheme.size());
  return slash == std::string_view::npos ? "" : uri.substr(slash + 1);
}

std::string_view FileIdIn(std::string_view key) { return key.substr(key.rfind('/') + 1); }

bool HoldsFalse(const item::Item& row) {
  return std::any_of(row.begin(), row.end(), [](const item::Attribute& attribute) {
    const bool* flag = attribute.value.As<bool>();
    return flag != nullptr && !*flag;
  });
}

// What the `parent` of the message should be; empty: it should have none.
std::string ParentOf(const Message& message) {
  const auto thread_ts = ParseTimestamp(message.traits.thread_ts);
  return thread_ts ? ThreadOf(message.place.team, *thread_ts) : "";
}

class Verifier {
 public:
  Verifier(const VerifyParts& parts, std::atomic<uint64_t>* rows)
      : parts_(parts), table_(parts.tables, parts.table), rows_(*rows) {}

  Result<VerifyReport> Run() {
    TRY(tables::ForEachItem(table_.tables(),
                            tables::ScanRequest{.table = table_.name(), .consistent = true},
                            [this](const item::Item& row) -> Result<tables::Paging> {
                              TRY(Visit(row));
                              return tables::Paging::kContinue;
                            }));
    TRY(VerifyIndex());
    return std::move(report_);
  }

 private:
  void Note(const item::Item& row, std::string_view what) {
    Note(fmt::format("{} / {}: {}", TextIn(row, "itemId"), TextIn(row, "timestamp"), what));
  }
  void Note(std::string text) {
    ++report_.problems;
    if (report_.examples.size() < kMaxVerifyExamples) report_.examples.push_back(std::move(text));
  }

  Status Visit(const item::Item& row) {
    ++report_.rows;
    ++rows_;
    if (HoldsFalse(row)) Note(row, "an attribute is false, which no row holds");
    const std::string id = TextIn(row, "itemId");
    const std::string type = TextIn(row, "type");
    if (id.starts_with("message#")) return VisitMessage(row);
    if (id.starts_with("channel#")) return VisitChannel(row);
    if (id.starts_with("channelindex#")) return VisitShard(row);
    if (!id.starts_with("meta#")) Note(row, "its key is not that of any row of an archive");
    if (type.empty()) Note(row, "it has no type");
    return type == "version" ? VisitVersion(row) : Status(Done{});
  }

  Status VisitMessage(const item::Item& row) {
    ++report_.messages;
    const Result<Message> message = DecodeMessage(row);
    if (!message) {
      Note(row, message.error().message);
      return Done{};
    }
    if (TextIn(row, "type") != "message" || TextIn(row, "ts") != message->ts.text() ||
        TextIn(row, "team_id") != message->place.team.text() ||
        TextIn(row, "channel_id") != message->place.channel.text()) {
      Note(row, "its type, ids or ts are not those of its key");
    }
    if (TextIn(row, "parent") != ParentOf(*message)) Note(row, "its parent is not its thread");
    teams_.insert(message->place.team);
    spoken_in_.insert(message->place);
    return VerifyFiles(row, *message);
  }

  // Every URI in files_s3 must have its object, of the size that Slack gave.
  Status VerifyFiles(const item::Item& row, const Message& message) {
    for (const std::string& uri : message.files_s3) {
      ++report_.files;
      const std::string key(KeyOfUri(uri));
      const auto object = key.empty() || parts_.objects == nullptr
                              ? std::optional<objects::ObjectInfo>()
                              : TRY(parts_.objects->Head(key));
      if (!object) {
        Note(row, fmt::format("there is no object for {}", uri));
        continue;
      }
      for (const FileMeta& file : ShownFiles(message)) {
        const bool differs = file.id == FileIdIn(key) && file.size > 0 &&
                             static_cast<uint64_t>(file.size) != object->size;
        if (differs)
          Note(row, fmt::format("{} has {} bytes, not {}", uri, object->size, file.size));
      }
    }
    return Done{};
  }

  Status VisitVersion(const item::Item& row) {
    ++report_.versions;
    const Result<Version> version = DecodeVersion(row);
    if (!version) {
      Note(row, version.error().message);
      return Done{};
    }
    const auto found = TRY(table_.Get(MessagesOf(version->place), version->ts.text()));
    if (!found) {
      Note(row, "its message is missing");
      return Done{};
    }
    const Result<Message> message = DecodeMessage(*found);
    const bool is_older =
        message && message->body && IsOlder(version->body, *message->body, message->ts);
    if (!is_older) Note(row, "it is not older than what its message shows");
    return Done{};
  }

  Status VisitChannel(const item::Item& row) {
    const Result<Channel> channel = DecodeChannel(row);
    if (!channel) {
      Note(row, channel.error().message);
      return Done{};
    }
    teams_.insert(channel->place.team);
    channels_.insert(channel->place);
    return Done{};
  }

  // A channel must be in one shard only.
  Status VisitShard(const item::Item& row) {
    const item::Value* value = row.Find("channels_map");
    const auto* channels = value ? value->As<item::Map>() : nullptr;
    if (channels == nullptr) {
      Note(row, "it has no channels_map");
      return Done{};
    }
    for (const item::Attribute& entry : *channels) {
      const std::string id = TextIn(row, "itemId") + "#" + entry.name;
      if (!in_shards_.insert(id).second) Note(row, entry.name + " is in another shard too");
    }
    return Done{};
  }

  Result<std::string> NameOf(const Place& place) {
    const auto channel = TRY(table_.FindChannel(place));
    return channel ? IndexName(*channel) : std::string();
  }

  // Each channel row must have an entry, and each entry a channel row or messages.
  Status VerifyIndex() {
    report_.channels = channels_.size();
    for (const slack::TeamId& team : teams_) {
      ChannelIndex::Names names = TRY(parts_.index->All(team));
      for (const Place& place : channels_) {
        if (place.team != team) continue;
        const std::string name = TRY(NameOf(place));
        const auto entry = names.find(place.channel.text());
        if (entry == names.end() || entry->second != name) {
          Note(fmt::format("the index of {} does not have {} as '{}': rebuild it", team.text(),
                           place.channel.text(), name));
        }
      }
      for (const auto& [id, name] : names) {
        const auto channel = slack::ChannelId::Parse(id);
        const bool is_known = channel && (channels_.contains({team, *channel}) ||
                                          spoken_in_.contains({team, *channel}));
        if (!is_known) {
          Note(fmt::format("the index of {} has {}, which has no rows: rebuild it", team.text(),
                           id));
        }
      }
    }
    return Done{};
  }

  const VerifyParts& parts_;
  const ArchiveTable table_;
  std::atomic<uint64_t>& rows_;
  VerifyReport report_;
  std::set<slack::TeamId> teams_;
  std::set<Place> channels_;   // That have rows of their own.
  std::set<Place> spoken_in_;  // That have messages.
  std::set<std::string> in_shards_;
};

}  // namespace

Result<VerifyReport> VerifyArchive(const VerifyParts& parts, std::atomic<uint64_t>* rows) {
  return Verifier(parts, rows).Run();
}

}  // namespace tidemark::archive
