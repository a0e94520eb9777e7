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
  std::vector<item::Item>& items = reply.items.emplace();
  for (item::Item& item : page.items) items.push_back(Projected(select, std::move(item)));
  if (reply.last) reply.next_token = TokenOf(*reply.last);
  return reply;
}

using StatementPtr = std::shared_ptr<const Statement>;

// `owner` keeps the statement for as long as its parts are used.
Later<Reply> Run(tables::Tables* tables, const Select& select, const StatementPtr& owner,
                 const tables::TableDescription& table, const Options& options) {
  Result<Reading> translated = Translate(select, table);
  if (!translated) return std::move(translated).error();
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
        return tables->Submit(std::move(request), std::nullopt);
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
  const bool returns = request.return_values != tables::ReturnValues::kNone;
  return tables->Submit(tables::Tables::WriteRequest(std::move(request)), std::nullopt)
      .Then([refused, returns](Result<tables::WriteReply> written) -> Result<Reply> {
        tables::WriteReply reply = TRY(std::move(written));
        if (!reply.applied) {
          return Reply{.outcome = refused, .failed_on = std::move(reply.failed_on)};
        }
        Reply done{.capacity = std::move(reply.capacity)};
        if (returns) done.items.emplace();
        if (returns && reply.attributes) done.items->push_back(*std::move(reply.attributes));
        return done;
      });
}

Later<Reply> Run(tables::Tables* tables, const Insert& insert, const StatementPtr& /*owner*/,
                 const tables::TableDescription& table, const Options& options) {
  return Write(tables, Translate(insert, table), options, Outcome::kDuplicate);
}

template <typename Change>
Later<Reply> Run(tables::Tables* tables, const Change& change, const StatementPtr& /*owner*/,
                 const tables::TableDescription& table, const Options& options) {
  auto request = Translate(change, table);
  if (!request) return std::move(request).error();
  return Write(tables, *std::move(request), options, Outcome::kConditionFailed);
}

}  // namespace

Later<Reply> Execute(tables::Tables* tables, StatementPtr statement, const Options& options) {
  auto table = tables->DescribeTable(TableOf(*statement));
  if (!table) {
    // As for operations on items, the message does not name the table.
    const bool is_missing = table.error().code == ErrorCode::kNotFound;
    return is_missing ? Error{ErrorCode::kNotFound, "Requested resource not found"}
                      : std::move(table).error();
  }
  return std::visit([&](const auto& one) { return Run(tables, one, statement, *table, options); },
                    *statement);
}

}  // namespace tidemark::partiql
