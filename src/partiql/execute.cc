#include "partiql/execute.h"

#include <memory>
#include <utility>
#include <variant>

#include "base/base64.h"
#include "base/json.h"
#include "item/json.h"
#include "partiql/translate.h"

namespace tidemark::partiql {

namespace {

// A token is the key after which the next page begins.
std::string TokenOf(const item::Item& last) { return EncodeBase64(item::ToJson(last)); }

Result<item::Item> KeyOfToken(const std::string& token) {
  const auto text = DecodeBase64(token);
  auto key = text ? item::ParseItemJson(*text) : Result<item::Item>(Invalid(""));
  if (!key) return Invalid("Given NextToken is not a valid token: use one of a reply as it is");
  return key;
}

Reply ReplyOf(const Select& select, tables::Page page) {
  Reply reply{.last = std::move(page.last), .capacity = std::move(page.capacity)};
  for (item::Item& item : page.items) reply.items.push_back(Projected(select, std::move(item)));
  if (reply.last) reply.next_token = TokenOf(*reply.last);
  return reply;
}

const tables::IndexSpec* FindIndex(const Select& select, const tables::TableDescription& table) {
  for (const tables::IndexDescription& index : table.indexes) {
    if (select.index == index.spec.name) return &index.spec;
  }
  return nullptr;
}

// `owner` keeps the statement for as long as its parts are used.
Later<Reply> Run(tables::Tables* tables, const Select& select, const StatementPtr& owner,
                 const tables::TableDescription& table, const Options& options) {
  Result<Reading> translated = Translate(select, table);
  if (!translated) return std::move(translated).error();
  const auto* index = FindIndex(select, table);
  if (options.consistent && index != nullptr && index->kind == tables::IndexKind::kGlobal) {
    return Invalid("Strongly consistent read is not supported on Global Secondary Indexes");
  }
  std::optional<item::Item> start_after;
  if (options.next_token) {
    auto key = KeyOfToken(*options.next_token);
    if (!key) return std::move(key).error();
    start_after = *std::move(key);
  }
  Later<tables::Page> page = std::visit(
      [&](auto& request) {
        request.consistent = options.consistent;
        request.limit = options.limit;
        request.start_after = std::move(start_after);
        request.measure = options.measure;
        return tables->Submit(std::move(request), options.deadline);
      },
      *translated);
  return std::move(page).Then([owner, &select](Result<tables::Page> read) -> Result<Reply> {
    return ReplyOf(select, TRY(std::move(read)));
  });
}

// `refused` is the outcome when the condition of the request does not hold.
template <typename Request>
Later<Reply> Write(tables::Tables* tables, Request request, const Options& options,
                   Outcome refused) {
  request.measure = options.measure;
  request.on_failure = options.on_failure;
  return tables->Submit(tables::Tables::WriteRequest(std::move(request)), options.deadline)
      .Then([refused](Result<tables::WriteReply> written) -> Result<Reply> {
        tables::WriteReply reply = TRY(std::move(written));
        if (!reply.applied) {
          return Reply{.outcome = refused, .failed_on = std::move(reply.failed_on)};
        }
        Reply done{.capacity = std::move(reply.capacity)};
        if (reply.attributes) done.items.push_back(*std::move(reply.attributes));
        return done;
      });
}

Later<Reply> Run(tables::Tables* tables, const Insert& insert, const StatementPtr& /*owner*/,
                 const tables::TableDescription& table, const Options& options) {
  return Write(tables, Translate(insert, table), options, Outcome::kDuplicate);
}

Later<Reply> Run(tables::Tables* /*tables*/, const Exists& /*exists*/,
                 const StatementPtr& /*owner*/, const tables::TableDescription& /*table*/,
                 const Options& /*options*/) {
  return Invalid(std::string(kExistsText));
}

template <typename Change>
Later<Reply> Run(tables::Tables* tables, const Change& change, const StatementPtr& /*owner*/,
                 const tables::TableDescription& table, const Options& options) {
  auto request = Translate(change, table);
  if (!request) return std::move(request).error();
  return Write(tables, *std::move(request), options, Outcome::kConditionFailed);
}

}  // namespace

Result<tables::TableDescription> Describe(tables::Tables* tables, const std::string& name) {
  auto table = tables->DescribeTable(name);
  if (table || table.error().code != ErrorCode::kNotFound) return table;
  return Error{ErrorCode::kNotFound, "Requested resource not found"};
}

Later<Reply> Execute(tables::Tables* tables, StatementPtr statement, const Options& options) {
  const auto table = Describe(tables, TableOf(*statement));
  if (!table) return table.error();
  return ExecuteOn(tables, std::move(statement), *table, options);
}

Later<Reply> ExecuteOn(tables::Tables* tables, StatementPtr statement,
                       const tables::TableDescription& table, const Options& options) {
  return std::visit([&](const auto& one) { return Run(tables, one, statement, table, options); },
                    *statement);
}

}  // namespace tidemark::partiql
