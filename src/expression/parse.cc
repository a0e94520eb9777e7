#include "expression/parse.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "expression/limits.h"
#include "expression/token.h"

namespace tidemark::expression {

namespace {

// The comparators are next to each other in TokenKind.
bool IsComparator(TokenKind kind) {
  return kind >= TokenKind::kEqual && kind <= TokenKind::kGreaterOrEqual;
}

bool IsSign(TokenKind kind) { return kind == TokenKind::kPlus || kind == TokenKind::kMinus; }

std::string_view SectionName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kSet:
      return "SET";
    case TokenKind::kRemove:
      return "REMOVE";
    case TokenKind::kAdd:
      return "ADD";
    case TokenKind::kDelete:
      return "DELETE";
    default:
      return {};
  }
}

Status VerifySize(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Invalid("The expression can not be empty;");
  }
  if (text.size() <= kMaxExpressionBytes) return Done{};
  return Invalid(fmt::format(
      "Expression size has exceeded the maximum allowed size; expression size: {}", text.size()));
}

Error TooManyOperators() {
  return Invalid(fmt::format("The expression contains too many operators; operator count: {}",
                             kMaxOperators + 1));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(text) {}

  Result<syntax::Condition> WholeCondition();
  Result<syntax::Update> WholeUpdate();
  Result<std::vector<syntax::Path>> WholeProjection();

 private:
  // Parentheses may contain a condition, "(a = :b)", or only an operand of one, "(a) = :b".
  // "(size(a))" may be either. A Term can be both: the next token decides, and so no text is
  // parsed twice. A Condition is large and would be on the stack once for each level of the
  // recursion, so a Term points to it.
  struct Term {
    std::variant<syntax::Operand, std::unique_ptr<syntax::Condition>> node;
    bool grouped = false;  // It has parentheses of its own.
  };
  // The same for SET: parentheses may contain an operand, "(a) + :b", or all of it, "(a + :b)".
  struct SetTerm {
    syntax::Set set;
    bool grouped = false;
  };

  bool At(TokenKind kind) const { return tokens_.current().kind == kind; }
  Result<std::string_view> Expect(TokenKind kind);
  Status Operator();
  Status OpenParenthesis();
  Status CloseParenthesis();

  Result<std::unique_ptr<syntax::Condition>> AsCondition(Term term);
  Status Append(Term term, std::vector<syntax::Condition>* conditions);
  // One function for each level of precedence. OR binds weakest, then AND, then NOT, and
  // comparisons bind strongest.
  Result<Term> Disjunction();
  Result<Term> Conjunction();
  Result<Term> Negation();
  Result<Term> Comparison();
  Result<Term> OperandOrGroup();
  Result<Term> ComparisonAfter(syntax::Operand operand);
  Result<Term> BetweenAfter(syntax::Operand operand);
  Result<Term> InAfter(syntax::Operand operand);

  Result<syntax::Operand> ParseOperand();
  Result<syntax::Operand> OperandInParentheses();
  Result<std::vector<syntax::Operand>> OperandList();
  Result<syntax::Call> ParseCall();
  Result<syntax::Path> ParsePath();
  Result<syntax::Name> ParseName();

  Status Clause(syntax::Update* update);
  Result<syntax::Action> ParseAction(TokenKind section);
  Result<SetTerm> ParseSetTerm();
  Result<syntax::Set> SetValueAfter(syntax::Operand left);
  Result<syntax::ValueReference> ParseValueReference();

  TokenStream tokens_;
  int operators_ = 0;
  int open_parentheses_ = 0;
};

Result<std::string_view> Parser::Expect(TokenKind kind) {
  if (!At(kind)) return tokens_.SyntaxError();
  const std::string_view text = tokens_.current().text;
  tokens_.Advance();
  return text;
}

Status Parser::Operator() {
  if (++operators_ > kMaxOperators) return TooManyOperators();
  return Done{};
}

// DynamoDB has no text for too many parentheses, because the limit is ours. The text about
// operators is right in most cases: parentheses that are not redundant contain an operator.
Status Parser::OpenParenthesis() {
  TRY(Expect(TokenKind::kOpen));
  if (++open_parentheses_ > kMaxOpenParentheses) return TooManyOperators();
  return Done{};
}

Status Parser::CloseParenthesis() {
  TRY(Expect(TokenKind::kClose));
  --open_parentheses_;
  return Done{};
}

Error RedundantParentheses() { return Invalid("The expression has redundant parentheses;"); }

template <typename Node>
std::unique_ptr<syntax::Condition> Boxed(Node node) {
  return std::make_unique<syntax::Condition>(syntax::Condition{std::move(node)});
}

// A call of a function is accepted as a condition here. The resolver checks later whether this
// function is one, because DynamoDB reports errors of syntax first.
Result<std::unique_ptr<syntax::Condition>> Parser::AsCondition(Term term) {
  if (auto* condition = std::get_if<std::unique_ptr<syntax::Condition>>(&term.node)) {
    return std::move(*condition);
  }
  auto& operand = std::get<syntax::Operand>(term.node);
  if (auto* call = std::get_if<syntax::Call>(&operand.node)) return Boxed(std::move(*call));
  return tokens_.SyntaxError();
}

Status Parser::Append(Term term, std::vector<syntax::Condition>* conditions) {
  const std::unique_ptr<syntax::Condition> condition = TRY(AsCondition(std::move(term)));
  conditions->push_back(std::move(*condition));
  return Done{};
}

Result<syntax::Condition> Parser::WholeCondition() {
  Term term = TRY(Disjunction());
  const std::unique_ptr<syntax::Condition> condition = TRY(AsCondition(std::move(term)));
  TRY(Expect(TokenKind::kEnd));
  return std::move(*condition);
}

Result<Parser::Term> Parser::Disjunction() {
  Term term = TRY(Conjunction());
  if (!At(TokenKind::kOr)) return term;
  syntax::Or disjunction;
  TRY(Append(std::move(term), &disjunction.conditions));
  while (At(TokenKind::kOr)) {
    TRY(Operator());
    tokens_.Advance();
    term = TRY(Conjunction());
    TRY(Append(std::move(term), &disjunction.conditions));
  }
  return Term{Boxed(std::move(disjunction))};
}

Result<Parser::Term> Parser::Conjunction() {
  Term term = TRY(Negation());
  if (!At(TokenKind::kAnd)) return term;
  syntax::And conjunction;
  TRY(Append(std::move(term), &conjunction.conditions));
  while (At(TokenKind::kAnd)) {
    TRY(Operator());
    tokens_.Advance();
    term = TRY(Negation());
    TRY(Append(std::move(term), &conjunction.conditions));
  }
  return Term{Boxed(std::move(conjunction))};
}

// This recursion is not limited by parentheses, but by the number of operators: each NOT counts.
Result<Parser::Term> Parser::Negation() {
  if (!At(TokenKind::kNot)) return Comparison();
  TRY(Operator());
  tokens_.Advance();
  Term term = TRY(Negation());
  return Term{Boxed(syntax::Not{TRY(AsCondition(std::move(term)))})};
}

Result<Parser::Term> Parser::Comparison() {
  Term term = TRY(OperandOrGroup());
  auto* operand = std::get_if<syntax::Operand>(&term.node);
  if (operand == nullptr) return term;
  if (At(TokenKind::kBetween)) return BetweenAfter(std::move(*operand));
  if (At(TokenKind::kIn)) return InAfter(std::move(*operand));
  if (IsComparator(tokens_.current().kind)) return ComparisonAfter(std::move(*operand));
  return term;
}

Result<Parser::Term> Parser::OperandOrGroup() {
  if (!At(TokenKind::kOpen)) return Term{TRY(ParseOperand())};
  TRY(OpenParenthesis());
  Term inner = TRY(Disjunction());
  TRY(CloseParenthesis());
  if (inner.grouped) return RedundantParentheses();
  inner.grouped = true;
  return inner;
}

Result<Parser::Term> Parser::ComparisonAfter(syntax::Operand operand) {
  TRY(Operator());
  const std::string_view comparator = tokens_.current().text;
  tokens_.Advance();
  syntax::Operand right = TRY(ParseOperand());
  return Term{Boxed(syntax::Comparison{comparator, std::move(operand), std::move(right)})};
}

Result<Parser::Term> Parser::BetweenAfter(syntax::Operand operand) {
  TRY(Operator());
  tokens_.Advance();
  syntax::Operand low = TRY(ParseOperand());
  // This AND is a part of BETWEEN. It is not counted as an operator.
  TRY(Expect(TokenKind::kAnd));
  syntax::Operand high = TRY(ParseOperand());
  return Term{Boxed(syntax::Between{std::move(operand), std::move(low), std::move(high)})};
}

Result<Parser::Term> Parser::InAfter(syntax::Operand operand) {
  TRY(Operator());
  tokens_.Advance();
  // TRY is not used inside the braces: when it returns from there, the compiler does not destroy
  // the members that are already initialized.
  std::vector<syntax::Operand> choices = TRY(OperandList());
  return Term{Boxed(syntax::In{std::move(operand), std::move(choices)})};
}

Result<syntax::Operand> Parser::ParseOperand() {
  if (At(TokenKind::kOpen)) return OperandInParentheses();
  if (At(TokenKind::kValueReference)) return syntax::Operand{TRY(ParseValueReference())};
  if (At(TokenKind::kName) && tokens_.next().kind == TokenKind::kOpen)
    return syntax::Operand{TRY(ParseCall())};
  return syntax::Operand{TRY(ParsePath())};
}

Result<syntax::Operand> Parser::OperandInParentheses() {
  TRY(OpenParenthesis());
  const bool redundant = At(TokenKind::kOpen);
  syntax::Operand operand = TRY(ParseOperand());
  TRY(CloseParenthesis());
  if (redundant) return RedundantParentheses();
  return operand;
}

// These parentheses belong to IN or to a function and are never redundant, so they are not counted.
// IN and functions count as operators, and this limits the recursion.
Result<std::vector<syntax::Operand>> Parser::OperandList() {
  std::vector<syntax::Operand> operands;
  TRY(Expect(TokenKind::kOpen));
  operands.push_back(TRY(ParseOperand()));
  while (At(TokenKind::kComma)) {
    tokens_.Advance();
    operands.push_back(TRY(ParseOperand()));
  }
  TRY(Expect(TokenKind::kClose));
  return operands;
}

Result<syntax::Call> Parser::ParseCall() {
  TRY(Operator());
  const std::string_view function = TRY(Expect(TokenKind::kName));
  return syntax::Call{function, TRY(OperandList())};
}

Result<syntax::ValueReference> Parser::ParseValueReference() {
  return syntax::ValueReference{TRY(Expect(TokenKind::kValueReference))};
}

Result<syntax::Name> Parser::ParseName() {
  const Token name = tokens_.current();
  if (name.kind != TokenKind::kName && name.kind != TokenKind::kNameReference)
    return tokens_.SyntaxError();
  tokens_.Advance();
  return syntax::Name{name.text};
}

Result<syntax::Path> Parser::ParsePath() {
  syntax::Path path;
  path.steps.emplace_back(TRY(ParseName()));
  while (true) {
    if (At(TokenKind::kDot)) {
      tokens_.Advance();
      path.steps.emplace_back(TRY(ParseName()));
    } else if (At(TokenKind::kOpenBracket)) {
      tokens_.Advance();
      path.steps.emplace_back(syntax::Index{TRY(Expect(TokenKind::kIndex))});
      TRY(Expect(TokenKind::kCloseBracket));
    } else {
      return path;
    }
  }
}

Result<syntax::Update> Parser::WholeUpdate() {
  syntax::Update update;
  do {
    TRY(Clause(&update));
  } while (!At(TokenKind::kEnd));
  return update;
}

Status Parser::Clause(syntax::Update* update) {
  const TokenKind section = tokens_.current().kind;
  if (SectionName(section).empty()) return tokens_.SyntaxError();
  update->sections.push_back(SectionName(section));
  do {
    tokens_.Advance();
    update->actions.push_back(TRY(ParseAction(section)));
  } while (At(TokenKind::kComma));
  return Done{};
}

Result<syntax::Action> Parser::ParseAction(TokenKind section) {
  syntax::Action action{TRY(ParsePath()), syntax::Remove{}};
  if (section == TokenKind::kSet) {
    TRY(Expect(TokenKind::kEqual));
    action.change = TRY(ParseSetTerm()).set;
  } else if (section == TokenKind::kAdd) {
    action.change = syntax::Add{TRY(ParseValueReference())};
  } else if (section == TokenKind::kDelete) {
    action.change = syntax::Delete{TRY(ParseValueReference())};
  }
  return action;
}

Result<Parser::SetTerm> Parser::ParseSetTerm() {
  if (!At(TokenKind::kOpen)) {
    syntax::Operand left = TRY(ParseOperand());
    return SetTerm{TRY(SetValueAfter(std::move(left)))};
  }
  TRY(OpenParenthesis());
  SetTerm inner = TRY(ParseSetTerm());
  TRY(CloseParenthesis());
  if (inner.grouped) return RedundantParentheses();
  inner.grouped = true;
  // "(a)" can be the left operand of a sum. "(a + :b)" cannot: SET allows only one + or -.
  auto* operand = std::get_if<syntax::Operand>(&inner.set.value);
  if (operand == nullptr || !IsSign(tokens_.current().kind)) return inner;
  return SetTerm{TRY(SetValueAfter(std::move(*operand)))};
}

Result<syntax::Set> Parser::SetValueAfter(syntax::Operand left) {
  if (!IsSign(tokens_.current().kind)) return syntax::Set{std::move(left)};
  TRY(Operator());
  const std::string_view sign = tokens_.current().text;
  tokens_.Advance();
  syntax::Operand right = TRY(ParseOperand());
  return syntax::Set{syntax::Arithmetic{sign, std::move(left), std::move(right)}};
}

Result<std::vector<syntax::Path>> Parser::WholeProjection() {
  std::vector<syntax::Path> paths;
  paths.push_back(TRY(ParsePath()));
  while (At(TokenKind::kComma)) {
    tokens_.Advance();
    paths.push_back(TRY(ParsePath()));
  }
  TRY(Expect(TokenKind::kEnd));
  return paths;
}

}  // namespace

Result<syntax::Condition> ParseConditionSyntax(std::string_view text) {
  TRY(VerifySize(text));
  return Parser(text).WholeCondition();
}

Result<syntax::Update> ParseUpdateSyntax(std::string_view text) {
  TRY(VerifySize(text));
  return Parser(text).WholeUpdate();
}

namespace {

// The syntax of a text, from the last ones that this thread has parsed if it is there.
template <typename Syntax>
Result<std::shared_ptr<const Syntax>> Recall(std::string_view text,
                                             Result<Syntax> (*parse)(std::string_view)) {
  struct Parsed {
    std::string text;
    Syntax syntax = {};  // With views into the text.
  };
  // A program uses few different expressions, so a short list is enough. Each thread has its own
  // list, so no lock is needed. A text that does not parse is not kept.
  constexpr size_t kKept = 8;
  thread_local std::array<std::shared_ptr<const Parsed>, kKept> kept;
  thread_local size_t oldest = 0;
  const auto known = std::ranges::find_if(
      kept, [&](const auto& one) { return one != nullptr && one->text == text; });
  std::shared_ptr<const Parsed> parsed = known != kept.end() ? *known : nullptr;
  if (parsed == nullptr) {
    auto fresh = std::make_shared<Parsed>(Parsed{.text = std::string(text)});
    fresh->syntax = TRY(parse(fresh->text));
    parsed = kept[oldest++ % kKept] = std::move(fresh);
  }
  // The result owns `parsed` as a whole, because the syntax has views into its text. It stays valid
  // when the list drops the entry.
  const Syntax* syntax = &parsed->syntax;
  return std::shared_ptr<const Syntax>(std::move(parsed), syntax);
}

}  // namespace

Result<std::shared_ptr<const syntax::Condition>> RecallConditionSyntax(std::string_view text) {
  return Recall(text, ParseConditionSyntax);
}

Result<std::shared_ptr<const syntax::Update>> RecallUpdateSyntax(std::string_view text) {
  return Recall(text, ParseUpdateSyntax);
}

Result<std::vector<syntax::Path>> ParseProjectionSyntax(std::string_view text) {
  TRY(VerifySize(text));
  return Parser(text).WholeProjection();
}

}  // namespace tidemark::expression
