#include "tests/gate/stage.h"

#include <utility>

#include <gtest/gtest.h>

namespace tidemark::testing {

gate::Subject Triple(const std::string& user, const std::string& channel, const std::string& team) {
  gate::Subject subject{.team = slack::TeamId::Parse(team).value()};
  if (!user.empty()) subject.user = slack::UserId::Parse(user).value();
  if (!channel.empty()) subject.channel = slack::ChannelId::Parse(channel).value();
  return subject;
}

void ScriptedTokens::Set(std::optional<std::string> token) {
  std::optional<Secret> secret;
  if (token) secret = Secret(*std::move(token));
  tokens_ = std::make_unique<gate::FixedTokens>(std::move(secret));
}

void ScriptedSlack::Set(const std::string& id, slack::LookupOutcome outcome, std::string error) {
  std::lock_guard lock(mutex_);
  replies_[id] = {.outcome = outcome, .error = std::move(error), .attempts = 1};
}

void ScriptedSlack::SetAll(slack::LookupOutcome outcome) {
  std::lock_guard lock(mutex_);
  replies_.clear();
  otherwise_ = {.outcome = outcome};
}

std::vector<slack::LookupReply> ScriptedSlack::LookUp(const Secret&,
                                                      std::span<const slack::Lookup> lookups,
                                                      const Deadline&) {
  // A copy, because the hook may remove itself.
  if (auto hook = on_ask) hook();
  std::vector<slack::LookupReply> replies;
  {
    std::lock_guard lock(mutex_);
    ++sets_;
    for (const slack::Lookup& lookup : lookups) {
      asked_.push_back(lookup);
      auto found = replies_.find(lookup.id);
      replies.push_back(found == replies_.end() ? otherwise_ : found->second);
    }
  }
  if (auto hook = on_answer) hook();
  return replies;
}

int ScriptedSlack::sets() const {
  std::lock_guard lock(mutex_);
  return sets_;
}

std::vector<slack::Lookup> ScriptedSlack::asked() const {
  std::lock_guard lock(mutex_);
  return asked_;
}

Stage::Stage(StageOptions options) : options_(std::move(options)) {
  tokens.Set("xoxb-of-the-test");
  existence =
      std::make_unique<gate::Existence>(options_.existence, &tables, &slack, &tokens, runtime());
  EXPECT_TRUE(existence->CreateTable());
  tables.decide = [this](Operation operation) -> std::optional<Fault> {
    ++(Writes(operation) ? writes : reads);
    return fault ? fault(operation) : std::nullopt;
  };
}

std::unique_ptr<gate::Existence> Stage::AnotherProcess() {
  return std::make_unique<gate::Existence>(options_.existence, &tables, &slack, &tokens,
                                           AnotherRuntime());
}

std::optional<item::Item> Stage::Row(const std::string& key) {
  return model.Get({.table = options_.existence.table, .key = {{"cache_key", key}}}).value();
}

void Stage::PutRow(const item::Item& row) {
  EXPECT_TRUE(model.Put({.table = options_.existence.table, .item = row}));
}

std::vector<item::Item> Stage::AllRows(const std::string& table) {
  return model.Scan({.table = table}).value().items;
}

void Stage::PutTtl(const item::Value& ttl) {
  item::Item row = Row(kTripleKey).value();
  row.Set("ttl", ttl);
  PutRow(row);
}

double Stage::Metric(const std::string& name) const {
  std::istringstream text(metrics_.Expose());
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
  }
  return -1;
}

size_t Stage::LogLines(const std::string& with) const {
  std::istringstream text(log_.str());
  size_t lines = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.find(with) != std::string::npos) ++lines;
  }
  return lines;
}

}  // namespace tidemark::testing
