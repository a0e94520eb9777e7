#include "tests/simulation/differences.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/archive/coverage.h"
#include "apps/archive/files.h"
#include "apps/archive/reader.h"
#include "item/json.h"
#include "tests/support/test_runtime.h"

namespace tidemark::testing {

namespace {

using archive::Place;
using MessageKey = GroundTruth::MessageKey;

constexpr char kTable[] = "SlackArchive";

class Comparison {
 public:
  explicit Comparison(const ArchiveToCompare& archive)
      : archive_(archive),
        truth_(*archive.truth),
        team_(slack::TeamId::Parse(archive.team).value()),
        index_({}, archive.tables, test_.runtime()),
        reader_({}, archive.tables, &index_, archive.clock),
        ledger_(kTable, archive.tables) {}

  std::vector<std::string> Run() {
    ReadRows();
    for (const auto& [key, message] : truth_.messages()) {
      if (!truth_.IsExcused(GroundTruth::OfMessage(key))) CompareMessage(key, message);
    }
    CompareLists();
    CompareThreads();
    for (const auto& [id, channel] : truth_.channels()) CompareChannel(id, channel);
    CompareIndex();
    CompareObjects();
    ComparePeople();
    CompareCoverage();
    CompareAbsences();
    return std::move(differences_);
  }

 private:
  template <typename... Arguments>
  void Note(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    differences_.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  template <typename T>
  void Expect(const std::string& what, const T& found, const T& expected) {
    if (found != expected) Note("{}: '{}' instead of '{}'", what, found, expected);
  }

  Place PlaceOf(const std::string& channel) const {
    return {.team = team_, .channel = slack::ChannelId::Parse(channel).value()};
  }
  static slack::Timestamp TimeOf(const std::string& ts) {
    return slack::Timestamp::Parse(ts).value();
  }

  // ---- Rows, whatever they are ----

  static bool HasFalse(const item::Value& value) {
    if (const bool* flag = value.As<bool>()) return !*flag;
    if (const auto* list = value.As<item::List>()) return std::ranges::any_of(*list, HasFalse);
    const auto* map = value.As<item::Map>();
    return map != nullptr && std::ranges::any_of(*map, [](const item::Attribute& attribute) {
             return HasFalse(attribute.value);
           });
  }

  void ReadRows() {
    tables::ScanRequest request{.table = kTable, .consistent = true};
    do {
      tables::Page page = archive_.tables->Scan(request).value();
      for (const item::Item& row : page.items) ReadRow(row);
      request.start_after = std::move(page.last);
    } while (request.start_after);
    if (archive_.log.find(archive_.bot_token) != std::string::npos) Note("the token is in the log");
  }

  void ReadRow(const item::Item& row) {
    const std::string text = item::ToJson(row);
    if (HasFalse(row)) Note("a row says false: {}", text);
    if (text.find(archive_.bot_token) != std::string::npos) Note("the token is in a row: {}", text);
    const std::string id = *row.Find("itemId")->As<std::string>();
    const std::string time = *row.Find("timestamp")->As<std::string>();
    if (const auto place = archive::PlaceOfMessages(id)) {
      const MessageKey key{truth_.HomeOf(place->channel.text()), time};
      stored_.insert(key);
      ids_.insert(place->channel.text());
      const bool is_known =
          truth_.messages().contains(key) || truth_.IsExcused(GroundTruth::OfMessage(key));
      if (!is_known) Note("a message that never was: {}", text);
    }
    if (const auto place = archive::PlaceOfChannelRow(id)) {
      const std::string channel = place->channel.text();
      const bool is_known =
          truth_.channels().contains(channel) || truth_.IsExcused(GroundTruth::OfChannel(channel));
      if (!is_known) Note("no such channel: {}", text);
    }
  }

  // ---- Messages ----

  void CompareMessage(const MessageKey& key, const TrueMessage& expected) {
    const std::string what = GroundTruth::OfMessage(key);
    // Any id of its channel does.
    const auto detail = reader_.Detail(PlaceOf(*expected.ids.rbegin()), TimeOf(key.second)).value();
    if (!detail) return Note("{} is missing", what);
    const archive::Message& message = detail->message;
    TrueMessage found{.user = message.traits.user,
                      .bot_id = message.traits.bot_id,
                      .subtype = message.traits.subtype,
                      .thread_ts = message.traits.thread_ts};
    for (const archive::Body& body : detail->versions) {
      found.versions[body.version.text()] = body.text.value_or("(none)");
    }
    if (message.deleted_ts) found.deleted_at = message.deleted_ts->text();
    for (const archive::FileMeta& file : message.traits.files) found.files.insert(file.id);
    Expect(what + " versions", found.versions, expected.versions);
    Expect(what + " deleted", found.deleted_at, expected.deleted_at);
    Expect(what + " user", found.user, expected.user);
    Expect(what + " bot", found.bot_id, expected.bot_id);
    Expect(what + " subtype", found.subtype, expected.subtype);
    Expect(what + " thread", found.thread_ts, expected.thread_ts);
    Expect(what + " files", found.files, expected.files);
    if (!expected.versions.empty()) {
      Expect(what + " text", message.body ? message.body->text.value_or("") : "(stub)",
             expected.text);
    }
    CompareReactions(key, *detail);
    CompareFiles(key, message, expected);
  }

  void CompareReactions(const MessageKey& key, const archive::MessageDetail& detail) {
    std::set<std::string> found;
    for (const archive::Reaction& reaction : detail.reactions) {
      for (const std::string& user : reaction.users) found.insert(reaction.reaction + " " + user);
    }
    const std::string what = GroundTruth::OfMessage(key);
    for (const auto& [reaction_key, is_given] : truth_.reactions()) {
      const auto& [channel, ts, reaction, user] = reaction_key;
      if (MessageKey(channel, ts) != key) continue;
      const bool is_found = found.erase(reaction + " " + user) > 0;
      if (truth_.IsExcused(GroundTruth::OfReaction(reaction_key))) continue;
      if (is_found != is_given) {
        Note("{}: reaction {} of {} is {}", what, reaction, user, is_found ? "there" : "missing");
      }
    }
    for (const std::string& reaction : found) Note("{}: reaction {} was never", what, reaction);
    if (!truth_.IsExcused(GroundTruth::OfPin(key))) {
      Expect(what + " pinned", detail.pinned, truth_.pins().contains(key));
    }
  }

  void CompareFiles(const MessageKey& key, const archive::Message& message,
                    const TrueMessage& expected) {
    const std::string what = GroundTruth::OfMessage(key);
    std::set<std::string> missing;
    std::vector<std::string> failing;
    for (const std::string& id : expected.files) {
      if (!truth_.files().at(id).external_url.empty()) continue;
      if (!archive_.is_fetchable(id)) {
        failing.push_back(id);
        continue;
      }
      missing.insert(id);
    }
    // Each id of the channel whose events showed a file has an object of it.
    std::set<std::string> uris;
    for (const std::string& id : expected.ids) {
      for (const std::string& file : missing) {
        const std::string object = archive::ObjectKeyOf(PlaceOf(id), message.ts, file).value();
        if (archive_.objects->Head(object).value()) uris.insert("s3://slack-archive/" + object);
      }
    }
    Expect(what + " files_s3", std::set(message.files_s3.begin(), message.files_s3.end()), uris);
    for (const std::string& uri : message.files_s3) missing.erase(uri.substr(uri.rfind('/') + 1));
    for (const std::string& id : missing) Note("{}: there is no object of {}", what, id);
    Expect(what + " files_fetch_failed", message.files_fetch_failed, !failing.empty());
    for (const std::string& id : failing) {
      if (message.files_fetch_error.find(id) == std::string::npos) {
        Note("{}: '{}' does not name {}", what, message.files_fetch_error, id);
      }
    }
  }

  // ---- Lists ----

  // The pages of the reader have the stored messages in order.
  void CompareLists() {
    std::map<std::string, std::vector<std::string>> channels;
    for (const auto& [home, ts] : stored_) channels[home].push_back(ts);
    for (const std::string& channel : ids_) {
      const std::string home = truth_.HomeOf(channel);
      const std::vector<std::string>& expected = channels[home];
      if (truth_.IsTorn(home)) continue;
      std::vector<std::string> found;
      archive::MessageQuery query{.limit = 7};
      do {
        const archive::MessagePage page = reader_.Messages(PlaceOf(channel), query).value();
        for (const archive::Message& message : page.messages) found.push_back(message.ts.text());
        query.after = page.next;
      } while (query.after);
      Expect("messages of " + channel, found, expected);
    }
  }

  void CompareThreads() {
    std::map<MessageKey, std::set<std::string>> threads;
    for (const auto& [key, message] : truth_.messages()) {
      if (message.thread_ts.empty()) continue;
      std::set<std::string>& thread = threads[{key.first, message.thread_ts}];
      if (!truth_.IsExcused(GroundTruth::OfMessage(key))) thread.insert(key.second);
    }
    for (auto& [key, expected] : threads) {
      if (truth_.IsTorn(key.first)) continue;
      const bool has_root = truth_.messages().contains(key);
      if (has_root && !truth_.IsExcused(GroundTruth::OfMessage(key))) expected.insert(key.second);
      std::set<std::string> found;
      const auto page =
          reader_.Thread(PlaceOf(key.first), TimeOf(key.second), std::nullopt, 1000).value();
      for (const archive::Message& message : page.messages) {
        const MessageKey found_key{key.first, message.ts.text()};
        if (!truth_.IsExcused(GroundTruth::OfMessage(found_key))) found.insert(found_key.second);
      }
      Expect("thread " + key.first + " " + key.second, found, expected);
    }
  }

  // ---- Channels ----

  void CompareChannel(const std::string& id, const TrueChannel& expected) {
    const std::string what = GroundTruth::OfChannel(id);
    if (truth_.IsExcused(what)) return;
    const auto found = reader_.FindChannel(PlaceOf(id)).value();
    if (!found) return Note("{} is missing", what);
    Expect(what + " names", found->names_history(), expected.names);
    Expect(what + " topic", found->topic.value.value_or("(none)"),
           expected.topic.value_or("(none)"));
    Expect(what + " purpose", found->purpose.value.value_or("(none)"),
           expected.purpose.value_or("(none)"));
    Expect(what + " archived", found->archived.value.value_or(false), expected.archived);
    Expect(what + " deleted", found->deleted, expected.deleted);
    Expect(what + " previous id", found->prev_channel_id, expected.prev_channel_id);
    // The archive takes a moved channel for public when it has messages of the old id. Which it has
    // at that moment depends on the order of arrival, which the truth does not know.
    const bool may_be_public = !expected.visibility && !expected.prev_channel_id.empty();
    if (may_be_public && VisibilityOf(*found) == "public") return;
    Expect(what + " visibility", VisibilityOf(*found), expected.visibility.value_or("(none)"));
  }

  static std::string VisibilityOf(const archive::Channel& channel) {
    if (!channel.visibility.value) return "(none)";
    return *channel.visibility.value == archive::Visibility::kPublic ? "public" : "private";
  }

  void CompareIndex() {
    archive::ChannelIndex::Names found = index_.All(team_).value();
    std::set<std::string> must_be;
    std::set<std::string> may_be;
    for (const auto& [key, message] : truth_.messages()) {
      may_be.insert(message.ids.begin(), message.ids.end());
      if (truth_.IsExcused(GroundTruth::OfMessage(key))) continue;
      must_be.insert(message.ids.begin(), message.ids.end());
    }
    for (const auto& [id, channel] : truth_.channels()) {
      may_be.insert(id);
      if (truth_.IsExcused(GroundTruth::OfChannel(id))) continue;
      must_be.insert(id);
      const std::string name = channel.names.empty() ? "" : channel.names.front();
      Expect("the index's name of " + id, found[id], channel.deleted ? "deleted_" + name : name);
    }
    for (const std::string& id : must_be) {
      if (!found.contains(id)) Note("{} is not in the index", id);
    }
    for (const auto& [id, name] : found) {
      if (!may_be.contains(id) && !ids_.contains(id)) Note("{} is in the index", id);
    }
  }

  // ---- The rest ----

  void CompareObjects() {
    const objects::ListReply list = archive_.objects->List({}).value();
    for (const objects::ObjectInfo& info : list.objects) {
      const std::string id = info.key.substr(info.key.rfind('/') + 1);
      const auto file = truth_.files().find(id);
      if (file == truth_.files().end()) {
        Note("there is an object of no file: {}", info.key);
      } else if (BytesOf(info) != demo::ContentOf(file->second)) {
        Note("there are wrong bytes in {}", info.key);
      }
    }
  }

  std::string BytesOf(const objects::ObjectInfo& info) {
    const auto opened = archive_.objects->Open(info.key).value();
    return opened ? opened->Read(0, info.size + 1).value() : "(gone)";
  }

  void ComparePeople() {
    const auto now = slack::Timestamp::FromSeconds(archive_.clock->NowSeconds());
    for (const auto& [user, name] : truth_.real_names()) {
      if (truth_.IsExcused("user " + user)) continue;
      const auto person = reader_.FindPerson(team_, user, now).value();
      Expect("the name of " + user, person ? person->real_name : "(nobody)", name);
    }
  }

  // Time with a known loss is never called complete, and nothing is called lost without a reason.
  void CompareCoverage() {
    const archive::ChannelIndex::Names names = index_.All(team_).value();
    for (const auto& [id, name] : names) {
      const std::vector<archive::Interval> intervals = ledger_.Of(PlaceOf(id)).value();
      for (const archive::Interval& interval : intervals) {
        if (interval.certainty == archive::Certainty::kComplete) CheckClaim(id, interval);
      }
    }
    const auto marks = ledger_.TeamMarks(team_).value();
    for (const archive::CoverageNews& mark : marks) {
      const bool is_downtime = mark.reason == "the server was not running";
      if (is_downtime && !archive_.may_fear_losses) {
        Note("a loss from {} that was none", mark.from.text());
      }
    }
  }

  // Without the bot nothing is received.
  void CompareAbsences() {
    for (const auto& [channel, at] : truth_.absences()) {
      if (truth_.IsExcused(GroundTruth::OfAbsence(channel, at))) continue;
      const std::vector<archive::Interval> intervals = ledger_.Of(PlaceOf(channel)).value();
      for (const archive::Interval& interval : intervals) {
        const bool covers =
            interval.from < TimeOf(at) && (!interval.to || TimeOf(at) < *interval.to);
        if (covers && interval.certainty == archive::Certainty::kComplete) {
          Note("{} is said to be complete at {}, when the bot was taken out", channel, at);
        }
      }
    }
  }

  void CheckClaim(const std::string& channel, const archive::Interval& interval) {
    const EpochSeconds to = interval.to ? interval.to->seconds() : archive_.clock->NowSeconds();
    for (const LostTime& lost : archive_.known_losses) {
      if (interval.from.seconds() + 1 < lost.to && lost.from < to) {
        Note("{} is said to be complete from {} to {}, and {} to {} is lost", channel,
             interval.from.text(), to, lost.from, lost.to);
      }
    }
  }

  const ArchiveToCompare& archive_;
  const GroundTruth& truth_;
  const slack::TeamId team_;
  TestRuntime test_;
  archive::ChannelIndex index_;
  archive::Reader reader_;
  archive::Ledger ledger_;
  std::set<MessageKey> stored_;
  std::set<std::string> ids_;  // Of channels that have messages.
  std::vector<std::string> differences_;
};

}  // namespace

std::vector<std::string> FindDifferences(const ArchiveToCompare& archive) {
  return Comparison(archive).Run();
}

}  // namespace tidemark::testing
