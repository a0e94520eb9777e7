#include "apps/gate/question.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::gate {

namespace {

template <typename Id>
Status Parse(const std::string& id) {
  TRY(Id::Parse(id));
  return Done{};
}

}  // namespace

Status VerifyId(const slack::Lookup& entity) {
  switch (entity.kind) {
    case slack::EntityKind::kTeam:
      return Parse<slack::TeamId>(entity.id);
    case slack::EntityKind::kUser:
      return Parse<slack::UserId>(entity.id);
    case slack::EntityKind::kChannel:
      break;
  }
  return Parse<slack::ChannelId>(entity.id);
}

std::vector<slack::Lookup> PartsOf(const Subject& subject) {
  std::vector<slack::Lookup> parts = {{slack::EntityKind::kTeam, subject.team.text()}};
  if (subject.user) parts.push_back({slack::EntityKind::kUser, subject.user->text()});
  if (subject.channel) parts.push_back({slack::EntityKind::kChannel, subject.channel->text()});
  return parts;
}

std::vector<std::string> TripleKeys(const Question& question) {
  std::vector<std::string> keys = {question.key};
  for (const slack::Lookup& part : question.parts) keys.push_back(GenerationKey(part.id));
  return keys;
}

std::vector<std::string> AllKeys(const Question& question) {
  std::vector<std::string> keys = TripleKeys(question);
  for (const slack::Lookup& part : question.parts) keys.push_back(EntityKey(part));
  return keys;
}

std::optional<Generations> Generations::In(const Rows& rows, const Question& question) {
  Generations generations;
  generations.credential_ = question.credential.generation;
  for (const slack::Lookup& part : question.parts) {
    auto row = rows.find(GenerationKey(part.id));
    std::optional<int64_t> number = row == rows.end() ? 0 : GenerationIn(row->second);
    if (!number) return std::nullopt;
    generations.numbers_.push_back(*number);
  }
  return generations;
}

std::string Generations::OfTriple() const {
  return fmt::format("{}:{}", credential_, fmt::join(numbers_, ":"));
}

bool Generations::AreAllZero() const {
  return std::ranges::all_of(numbers_, [](int64_t number) { return number == 0; });
}

std::string Generations::OfPart(size_t part) const {
  return fmt::format("{}:{}:{}", credential_, numbers_.front(), numbers_[part]);
}

}  // namespace tidemark::gate
