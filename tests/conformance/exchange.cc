#include "tests/conformance/exchange.h"

#include <cctype>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace tidemark::conformance {

namespace {

bool IsStatus(const std::string& line) {
  return line.size() >= 3 && std::isdigit(line[0]) != 0 && std::isdigit(line[1]) != 0 &&
         std::isdigit(line[2]) != 0 && (line.size() == 3 || line[3] == ' ');
}

// Reads lines until an empty one, and keeps their numbers.
class Lines {
 public:
  explicit Lines(const std::string& text) : stream_(text) {}

  // The next lines that belong together. Empty at the end.
  std::vector<std::string> Block() {
    std::vector<std::string> block;
    std::string line;
    while (std::getline(stream_, line)) {
      ++number_;
      if (line.empty() && !block.empty()) return block;
      if (line.empty()) continue;
      if (block.empty()) first_ = number_;
      block.push_back(line);
    }
    return block;
  }
  int first() const { return first_; }

 private:
  std::istringstream stream_;
  int number_ = 0;
  int first_ = 0;
};

Result<Exchange> ParseExchange(const std::vector<std::string>& block, int line) {
  Exchange exchange{.line = line, .operation = block[0]};
  size_t at = 1;
  while (at < block.size() && !IsStatus(block[at])) exchange.request += block[at++] + "\n";
  if (at == block.size()) return Invalid(fmt::format("line {}: there is no reply", line));
  exchange.status = std::stoi(block[at]);
  if (block[at].size() > 4) exchange.exception = block[at].substr(4);
  ++at;
  if (!exchange.exception.empty() && at < block.size() && !block[at].starts_with('{')) {
    exchange.message = block[at++];
  }
  while (at < block.size()) exchange.reply += block[at++] + "\n";
  if (exchange.reply.empty()) exchange.reply = "{}";
  return exchange;
}

std::string DifferenceOfMembers(const std::map<std::string, Json>& expected, const Json& actual,
                                const std::string& place) {
  std::map<std::string, Json> found;
  for (const auto& [name, value] : actual.Members()) found.emplace(name, value);
  for (const auto& [name, value] : expected) {
    const auto member = found.find(name);
    if (member == found.end()) return fmt::format("{}.{} is missing", place, name);
    const std::string inner = Difference(value, member->second, place + "." + name);
    if (!inner.empty()) return inner;
  }
  for (const auto& [name, value] : found) {
    if (!expected.contains(name)) {
      return fmt::format("{}.{} is not expected: {}", place, name, ToText(value));
    }
  }
  return "";
}

}  // namespace

Result<TestFile> ParseTestFile(const std::string& text) {
  Lines lines(text);
  const std::vector<std::string> first = lines.Block();
  if (first.size() != 1) return Invalid("the file must begin with one line that says why");
  TestFile file{.why = first[0], .exchanges = {}};
  while (true) {
    const std::vector<std::string> block = lines.Block();
    if (block.empty()) break;
    file.exchanges.push_back(TRY(ParseExchange(block, lines.first())));
  }
  if (file.exchanges.empty()) return Invalid("the file has no request");
  return file;
}

std::string Difference(const Json& expected, const Json& actual, const std::string& place) {
  if (expected.AsString() == "…") return "";
  if (expected.IsObject() && actual.IsObject()) {
    std::map<std::string, Json> members;
    for (const auto& [name, value] : expected.Members()) members.emplace(name, value);
    return DifferenceOfMembers(members, actual, place);
  }
  if (expected.IsArray() && actual.IsArray() && expected.Size() == actual.Size()) {
    auto other = actual.Elements().begin();
    size_t index = 0;
    for (const Json element : expected.Elements()) {
      const std::string inner = Difference(element, *other, fmt::format("{}[{}]", place, index++));
      if (!inner.empty()) return inner;
      ++other;
    }
    return "";
  }
  if (ToText(expected) == ToText(actual)) return "";
  return fmt::format("{} is {}, not {}", place, ToText(actual), ToText(expected));
}

}  // namespace tidemark::conformance
