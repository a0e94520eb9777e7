#include "partiql/parse.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "partiql/token.h"

namespace tidemark::partiql {

namespace {

using tables::ReturnValues;

Error NotWellFormed(std::string_view detail) {
  return Invalid(fmt::format("Statement wasn't well formed, can't be processed: {}", detail));
}

constexpr std::string_view kLeftOver = "Unexpected token after expression";

// Whether the text has something that is no token, such as a quote without its end.
bool HasUnknown(TokenStream tokens) {
  while (tokens.current().kind != TokenKind::kEnd) {
    if (tokens.current().kind == TokenKind::kUnknown) return true;
    tokens.Advance();
  }
  return false;
}

// Whether an exponent does not fit into 32 bits, with the digits after the point.
bool HasHugeExponent(std::string_view number) {
  const size_t at = number.find_first_of("eE");
  if (at == std::string_view::npos) return false;
  const size_t point = number.find('.');
  const auto decimals = static_cast<int64_t>(point == std::string_view::npos ? 0 : at - point - 1);
  std::string_view digits = number.substr(at + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int32_t exponent = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return read.ec != std::errc() || decimals - exponent > INT32_MAX;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<item::Value> parameters)
      : tokens_(text), parameters_(std::move(parameters)) {}

  Result<Statement> Whole();

 private:
  Result<Statement> ParseAny();
  Result<Select> ParseSelect();
  Result<Statement> ParseExists();
  Result<Statement> ParseFromFirst();
  Status RefuseAlias() const;
  Result<Statement> ParseInsert();
  Result<Statement> ParseUpdate();
  Result<Statement> ParseDelete();
  Result<std::vector<Path>> Projection();
  Result<std::vector<Select::Order>> Orders();
  Status Assignments(std::vector<Assignment>* assignments);
  Result<Assignment> SetAssignment();
  Result<std::optional<Condition>> Where();
  Result<std::optional<ReturnValues>> Returning();

  // OR binds weakest, then AND, then NOT.
  Result<Condition> Disjunction();
  Result<Condition> Conjunction();
  Result<Condition> Negation();
  Result<Condition> Predicate();
  Result<Condition> PredicateAfter(Operand operand);
  Result<Condition> IsAfter(Operand operand);
  Result<std::vector<Operand>> Choices();

  Result<Operand> ParseOperand();
  Result<Operand> PathOrCall();
  Result<Call> CallAfter(std::string_view name);
  Result<Path> ParsePath();
  Result<Path> PathAfter(std::string name);
  Result<std::string> Name();

  Result<item::Value> ParseValue();
  Result<item::Value> ParseNumber(bool is_negative);
  Result<item::Value> ParseList();
  Result<item::Value> ParseMap();
  Result<item::Value> ParseSet();
  bool AtValue() const;

  bool At(std::string_view sign) const {
    return tokens_.current().kind == TokenKind::kSign && tokens_.current().text == sign;
  }
  bool AtWord(std::string_view keyword) const {
    return tokens_.current().kind == TokenKind::kWord && IsKeyword(tokens_.current().text, keyword);
  }
  bool Skip(std::string_view sign) {
    if (!At(sign)) return false;
    tokens_.Advance();
    return true;
  }
  bool SkipWord(std::string_view keyword) {
    if (!AtWord(keyword)) return false;
    tokens_.Advance();
    return true;
  }
  Status Expect(std::string_view sign) {
    if (Skip(sign)) return Done{};
    return NotWellFormed(fmt::format("Expected '{}'", sign));
  }
  Status ExpectWord(std::string_view keyword) {
    if (SkipWord(keyword)) return Done{};
    return NotWellFormed(fmt::format("Expected {}", keyword));
  }

  // Counts a level of recursion as long as it lives.
  class Level {
   public:
    explicit Level(int* depth) : depth_(*depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };
  Status CheckDepth() const {
    if (depth_ <= kMaxDepth) return Done{};
    return NotWellFormed(fmt::format("it nests deeper than {} levels", kMaxDepth));
  }

  // Adds a step to the path of the value that is read, as long as it lives.
  class Inside {
   public:
    Inside(std::string* path, const std::string& step) : path_(*path), length_(path->size()) {
      path_ += step;
    }
    ~Inside() { path_.resize(length_); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    std::string& path_;
    const size_t length_;
  };

  TokenStream tokens_;
  std::vector<item::Value> parameters_;
  std::string value_path_;  // ".x[1]": where the value is inside of another.
  bool is_item_ = false;    // The next map is the item of an INSERT.
  size_t used_ = 0;
  int depth_ = 0;
};

Result<Statement> Parser::ParseAny() {
  if (SkipWord("SELECT")) return Statement(TRY(ParseSelect()));
  if (SkipWord("INSERT")) return ParseInsert();
  if (SkipWord("UPDATE")) return ParseUpdate();
  if (SkipWord("DELETE")) return ParseDelete();
  if (SkipWord("EXISTS")) return ParseExists();
  if (SkipWord("FROM")) return ParseFromFirst();
  return NotWellFormed("Expected data manipulation");
}

Result<Statement> Parser::Whole() {
  if (HasUnknown(tokens_)) return NotWellFormed("");
  Statement statement = TRY(ParseAny());
  Skip(";");
  if (tokens_.current().kind != TokenKind::kEnd) {
    return NotWellFormed(kLeftOver);
  }
  if (used_ != parameters_.size()) {
    return Invalid("Number of parameters in request and statement don't match.");
  }
  return statement;
}

Result<Select> Parser::ParseSelect() {
  Select select;
  select.projection = TRY(Projection());
  TRY(ExpectWord("FROM"));
  select.table = TRY(Name());
  if (Skip(".")) select.index = TRY(Name());
  TRY(RefuseAlias());
  select.where = TRY(Where());
  if (SkipWord("ORDER")) select.order = TRY(Orders());
  return select;
}

Result<Statement> Parser::ParseExists() {
  TRY(Expect("("));
  TRY(ExpectWord("SELECT"));
  Exists exists{TRY(ParseSelect())};
  TRY(Expect(")"));
  return Statement(std::move(exists));
}

Result<std::vector<Path>> Parser::Projection() {
  std::vector<Path> paths;
  if (Skip("*")) return paths;
  do {
    paths.push_back(TRY(ParsePath()));
  } while (Skip(","));
  return paths;
}

Result<std::vector<Select::Order>> Parser::Orders() {
  TRY(ExpectWord("BY"));
  std::vector<Select::Order> orders;
  do {
    Path path = TRY(ParsePath());
    const bool is_descending = SkipWord("DESC");
    if (!is_descending) SkipWord("ASC");
    orders.push_back({std::move(path), is_descending});
  } while (Skip(","));
  return orders;
}

Result<Statement> Parser::ParseInsert() {
  TRY(ExpectWord("INTO"));
  Insert insert;
  insert.table = TRY(Name());
  const bool has_alias = !AtWord("VALUE") && tokens_.current().kind == TokenKind::kWord;
  if (has_alias) return NotWellFormed(kLeftOver);
  TRY(ExpectWord("VALUE"));
  is_item_ = true;
  item::Value value = TRY(ParseValue());
  auto* item = value.As<item::Map>();
  if (item == nullptr) return NotWellFormed("Expected a tuple in VALUE");
  insert.item = std::move(*item);
  return Statement(std::move(insert));
}

Result<Statement> Parser::ParseUpdate() {
  Update update;
  update.table = TRY(Name());
  TRY(RefuseAlias());
  TRY(Assignments(&update.assignments));
  update.where = TRY(Where());
  update.returning = TRY(Returning());
  return Statement(std::move(update));
}

// FROM t WHERE … SET …: an UPDATE with its clauses in another order.
Result<Statement> Parser::ParseFromFirst() {
  Update update;
  update.table = TRY(Name());
  TRY(RefuseAlias());
  update.where = TRY(Where());
  TRY(Assignments(&update.assignments));
  update.returning = TRY(Returning());
  return Statement(std::move(update));
}

Status Parser::RefuseAlias() const {
  for (const char* keyword : {"WHERE", "ORDER", "SET", "REMOVE", "RETURNING"}) {
    if (AtWord(keyword)) return Done{};
  }
  const TokenKind kind = tokens_.current().kind;
  if (kind != TokenKind::kWord && kind != TokenKind::kQuoted) return Done{};
  return Invalid("Aliasing is not supported");
}

Status Parser::Assignments(std::vector<Assignment>* assignments) {
  while (true) {
    if (SkipWord("SET")) {
      do {
        assignments->push_back(TRY(SetAssignment()));
      } while (Skip(","));
    } else if (SkipWord("REMOVE")) {
      do {
        assignments->push_back({TRY(ParsePath()), Remove{}});
      } while (Skip(","));
    } else {
      break;
    }
  }
  if (assignments->empty()) return NotWellFormed("Expected SET or REMOVE");
  return Done{};
}

Result<Assignment> Parser::SetAssignment() {
  Path path = TRY(ParsePath());
  TRY(Expect("="));
  Operand left = TRY(ParseOperand());
  const char sign = At("+") ? '+' : At("-") ? '-' : ' ';
  if (sign == ' ') return Assignment{std::move(path), std::move(left)};
  tokens_.Advance();
  Operand right = TRY(ParseOperand());
  return Assignment{std::move(path), Sum{sign, std::move(left), std::move(right)}};
}

Result<Statement> Parser::ParseDelete() {
  TRY(ExpectWord("FROM"));
  Delete gone;
  gone.table = TRY(Name());
  TRY(RefuseAlias());
  gone.where = TRY(Where());
  gone.returning = TRY(Returning());
  return Statement(std::move(gone));
}

Result<std::optional<Condition>> Parser::Where() {
  if (!SkipWord("WHERE")) return std::optional<Condition>();
  return std::optional<Condition>(TRY(Disjunction()));
}

Result<std::optional<ReturnValues>> Parser::Returning() {
  if (!SkipWord("RETURNING")) return std::optional<ReturnValues>();
  const bool is_all = SkipWord("ALL");
  if (!is_all) TRY(ExpectWord("MODIFIED"));
  const bool is_old = SkipWord("OLD");
  if (!is_old) TRY(ExpectWord("NEW"));
  TRY(Expect("*"));
  if (is_all) return std::optional(is_old ? ReturnValues::kAllOld : ReturnValues::kAllNew);
  return std::optional(is_old ? ReturnValues::kUpdatedOld : ReturnValues::kUpdatedNew);
}

Result<Condition> Parser::Disjunction() {
  const Level level(&depth_);
  TRY(CheckDepth());
  Condition first = TRY(Conjunction());
  if (!AtWord("OR")) return first;
  Any any;
  any.conditions.push_back(std::move(first));
  while (SkipWord("OR")) any.conditions.push_back(TRY(Conjunction()));
  return Condition{std::move(any)};
}

Result<Condition> Parser::Conjunction() {
  Condition first = TRY(Negation());
  if (!AtWord("AND")) return first;
  All all;
  all.conditions.push_back(std::move(first));
  while (SkipWord("AND")) all.conditions.push_back(TRY(Negation()));
  return Condition{std::move(all)};
}

Result<Condition> Parser::Negation() {
  if (!SkipWord("NOT")) return Predicate();
  const Level level(&depth_);
  TRY(CheckDepth());
  Condition inner = TRY(Negation());
  return Condition{Not{std::make_unique<Condition>(std::move(inner))}};
}

Result<Condition> Parser::Predicate() {
  if (Skip("(")) {
    Condition inner = TRY(Disjunction());
    TRY(Expect(")"));
    return inner;
  }
  Operand operand = TRY(ParseOperand());
  return PredicateAfter(std::move(operand));
}

Result<Condition> Parser::PredicateAfter(Operand operand) {
  for (const std::string_view sign : {"=", "<>", "!=", "<=", ">=", "<", ">"}) {
    if (!Skip(sign)) continue;
    Operand right = TRY(ParseOperand());
    return Condition{
        Comparison{std::string(sign == "!=" ? "<>" : sign), std::move(operand), std::move(right)}};
  }
  if (SkipWord("IS")) return IsAfter(std::move(operand));
  const bool is_negated = SkipWord("NOT");
  std::optional<Condition> condition;
  if (SkipWord("BETWEEN")) {
    Operand low = TRY(ParseOperand());
    TRY(ExpectWord("AND"));
    Operand high = TRY(ParseOperand());
    condition.emplace(Condition{Between{std::move(operand), std::move(low), std::move(high)}});
  } else if (SkipWord("IN")) {
    std::vector<Operand> choices = TRY(Choices());
    condition.emplace(Condition{In{std::move(operand), std::move(choices)}});
  } else if (auto* call = std::get_if<std::unique_ptr<Call>>(&operand.node); call && !is_negated) {
    return Condition{std::move(**call)};
  }
  if (!condition) return NotWellFormed("Expected a comparison");
  if (!is_negated) return *std::move(condition);
  return Condition{Not{std::make_unique<Condition>(*std::move(condition))}};
}

Result<Condition> Parser::IsAfter(Operand operand) {
  const bool is_negated = SkipWord("NOT");
  Kind kind = Kind::kNull;
  if (SkipWord("MISSING")) {
    kind = Kind::kMissing;
  } else {
    TRY(ExpectWord("NULL"));
  }
  auto* path = std::get_if<Path>(&operand.node);
  if (path == nullptr) return NotWellFormed("Expected an attribute before IS");
  Condition condition{Is{std::move(*path), kind}};
  if (!is_negated) return condition;
  return Condition{Not{std::make_unique<Condition>(std::move(condition))}};
}

// IN [a, b] and IN (a, b).
Result<std::vector<Operand>> Parser::Choices() {
  std::vector<Operand> choices;
  const bool is_list = At("[");
  if (!Skip(is_list ? "[" : "(")) return NotWellFormed("Expected a list after IN");
  do {
    choices.push_back(TRY(ParseOperand()));
  } while (Skip(","));
  TRY(Expect(is_list ? "]" : ")"));
  return choices;
}

bool Parser::AtValue() const {
  const TokenKind kind = tokens_.current().kind;
  return kind == TokenKind::kString || kind == TokenKind::kNumber ||
         kind == TokenKind::kParameter || At("[") || At("{") || At("<<") || At("-") || At("+") ||
         AtWord("TRUE") || AtWord("FALSE") || AtWord("NULL");
}

Result<Operand> Parser::ParseOperand() {
  if (AtValue()) return Operand{TRY(ParseValue())};
  return PathOrCall();
}

Result<Operand> Parser::PathOrCall() {
  const bool is_word = tokens_.current().kind == TokenKind::kWord;
  const std::string_view word = tokens_.current().text;
  std::string name = TRY(Name());
  if (is_word && At("(")) {
    Call call = TRY(CallAfter(word));
    return Operand{std::make_unique<Call>(std::move(call))};
  }
  return Operand{TRY(PathAfter(std::move(name)))};
}

Result<Call> Parser::CallAfter(std::string_view name) {
  const Level level(&depth_);
  TRY(CheckDepth());
  Call call;
  for (const char c : name) call.function += Lower(c);
  TRY(Expect("("));
  if (Skip(")")) return call;
  do {
    call.arguments.push_back(TRY(ParseOperand()));
  } while (Skip(","));
  TRY(Expect(")"));
  return call;
}

Result<std::string> Parser::Name() {
  const Token token = tokens_.current();
  if (token.kind == TokenKind::kEnd) return NotWellFormed("Unexpected term");
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kQuoted) {
    return NotWellFormed("Expected identifier for simple path");
  }
  tokens_.Advance();
  std::string name =
      token.kind == TokenKind::kWord ? std::string(token.text) : Unquoted(token.text);
  if (name.empty()) return NotWellFormed("Expected identifier for simple path");
  return name;
}

Result<Path> Parser::ParsePath() {
  std::string name = TRY(Name());
  return PathAfter(std::move(name));
}

Result<Path> Parser::PathAfter(std::string name) {
  Path path;
  path.steps.emplace_back(std::move(name));
  while (true) {
    if (Skip(".")) {
      path.steps.emplace_back(TRY(Name()));
    } else if (Skip("[")) {
      const std::string_view text = tokens_.current().text;
      uint32_t index = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
      const bool is_index = tokens_.current().kind == TokenKind::kNumber &&
                            read.ec == std::errc() && read.ptr == text.data() + text.size();
      if (!is_index) return NotWellFormed("Expected an index in brackets");
      tokens_.Advance();
      TRY(Expect("]"));
      path.steps.emplace_back(index);
    } else {
      return path;
    }
  }
}

// ---- Values ----

Result<item::Value> Parser::ParseValue() {
  const Level level(&depth_);
  TRY(CheckDepth());
  const Token token = tokens_.current();
  if (Skip("-")) return ParseNumber(true);
  if (Skip("+")) return ParseNumber(false);
  if (token.kind == TokenKind::kNumber) return ParseNumber(false);
  if (Skip("[")) return ParseList();
  if (Skip("{")) return ParseMap();
  if (Skip("<<")) return ParseSet();
  if (SkipWord("TRUE")) return item::Value(true);
  if (SkipWord("FALSE")) return item::Value(false);
  if (SkipWord("NULL")) return item::Value(item::Null{});
  tokens_.Advance();
  if (token.kind == TokenKind::kString) return item::Value(Unquoted(token.text));
  if (token.kind != TokenKind::kParameter) return NotWellFormed("Expected a value");
  if (used_ == parameters_.size()) {
    return Invalid("Number of parameters in request and statement don't match.");
  }
  return std::move(parameters_[used_++]);
}

Result<item::Value> Parser::ParseNumber(bool is_negative) {
  const Token token = tokens_.current();
  if (token.kind != TokenKind::kNumber) return NotWellFormed("Expected a number after the sign");
  tokens_.Advance();
  if (HasHugeExponent(token.text)) return NotWellFormed("");
  auto number = item::Number::Parse(fmt::format("{}{}", is_negative ? "-" : "", token.text));
  if (number) return item::Value(*std::move(number));
  return Invalid(fmt::format("{} under root{}", number.error().message, value_path_));
}

Result<item::Value> Parser::ParseList() {
  item::List list;
  if (Skip("]")) return item::Value(std::move(list));
  do {
    const Inside inside(&value_path_, fmt::format("[{}]", list.size()));
    list.push_back(TRY(ParseValue()));
  } while (Skip(","));
  TRY(Expect("]"));
  return item::Value(std::move(list));
}

Result<item::Value> Parser::ParseMap() {
  std::vector<item::Attribute> attributes;
  // The attributes of an item are roots of their own.
  const bool is_item = std::exchange(is_item_, false);
  if (Skip("}")) return item::Value(item::Map());
  do {
    const Token name = tokens_.current();
    if (name.kind != TokenKind::kString && name.kind != TokenKind::kQuoted) {
      return NotWellFormed("Expected the name of an attribute");
    }
    tokens_.Advance();
    TRY(Expect(":"));
    const Inside inside(&value_path_, is_item ? "" : "." + Unquoted(name.text));
    item::Value value = TRY(ParseValue());
    attributes.push_back({Unquoted(name.text), std::move(value)});
  } while (Skip(","));
  TRY(Expect("}"));
  return item::Value(item::Map::FromAttributes(std::move(attributes)));
}

template <typename Member>
Result<item::Value> SetOfMembers(const std::vector<item::Value>& values) {
  std::vector<Member> members;
  for (const item::Value& value : values) {
    const auto* member = value.As<Member>();
    if (member == nullptr) return NotWellFormed("the members of a set have different types");
    members.push_back(*member);
  }
  item::SetOf<Member> set(std::move(members));
  if (set.size() != values.size()) {
    return Invalid(
        "One or more parameter values were invalid: Input collection contains "
        "duplicates.");
  }
  return item::Value(std::move(set));
}

Result<item::Value> Parser::ParseSet() {
  std::vector<item::Value> values;
  if (At(">>")) return NotWellFormed("Expected a member of the set");
  do {
    values.push_back(TRY(ParseValue()));
  } while (Skip(","));
  TRY(Expect(">>"));
  switch (values.front().type()) {
    case item::Type::kString:
      return SetOfMembers<item::String>(values);
    case item::Type::kNumber:
      return SetOfMembers<item::Number>(values);
    case item::Type::kBinary:
      return SetOfMembers<item::Binary>(values);
    default:
      return NotWellFormed("a set has strings, numbers or binaries");
  }
}

}  // namespace

Result<Statement> Parse(std::string_view text, std::vector<item::Value> parameters) {
  if (text.empty() || text.size() > kMaxStatementBytes) {
    return Invalid(fmt::format(
        "1 validation error detected: Value '{}' at 'statement' failed to satisfy constraint: "
        "Member must have length {} than or equal to {}",
        text.substr(0, kMaxStatementBytes), text.empty() ? "greater" : "less",
        text.empty() ? 1 : kMaxStatementBytes));
  }
  return Parser(text, std::move(parameters)).Whole();
}

}  // namespace tidemark::partiql
