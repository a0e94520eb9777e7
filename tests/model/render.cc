#include "tests/model/render.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "item/json.h"

namespace tidemark::model {

namespace {

using item::Item;
using item::ToJson;

std::string Bindings(const tables::Names& names, const tables::Values& values) {
  std::string text;
  for (const auto& [reference, name] : names) text += " " + reference + "=" + name;
  for (const auto& [reference, value] : values) text += " " + reference + "=" + ToJson(value);
  return text;
}

std::string Optional(const char* label, const std::optional<std::string>& text) {
  return text ? fmt::format(" {} \"{}\"", label, *text) : "";
}

template <typename Number>
std::string OptionalNumber(const char* label, const std::optional<Number>& number) {
  return number ? fmt::format(" {} {}", label, static_cast<int64_t>(*number)) : "";
}

template <typename Request>
std::string Returns(const Request& request) {
  return fmt::format("{} returns {} on_failure {}", Bindings(request.names, request.values),
                     static_cast<int>(request.return_values), static_cast<int>(request.on_failure));
}

std::string Reasons(const std::vector<tables::CancellationReason>& reasons) {
  std::string text;
  for (const auto& reason : reasons) {
    text += fmt::format(" {}:{}", static_cast<int>(reason.code), Render(reason.item));
  }
  return text;
}

std::string RenderRecord(const tables::StreamRecord& record) {
  return fmt::format("{}{} at {} view {} {} old {} new {}", static_cast<int>(record.kind),
                     record.expired ? " expired" : "", record.created_at,
                     static_cast<int>(record.view), ToJson(record.keys), Render(record.old_image),
                     Render(record.new_image));
}

}  // namespace

// ---- Requests ----

std::string Show(const tables::GetRequest& request) {
  return fmt::format("get {} {}{}{}", request.table, ToJson(request.key),
                     Optional("project", request.projection), Bindings(request.names, {}));
}

std::string Show(const tables::PutRequest& request) {
  return fmt::format("put {} {}{}{}", request.table, ToJson(request.item),
                     Optional("if", request.condition), Returns(request));
}

std::string Show(const tables::UpdateRequest& request) {
  return fmt::format("update {} {}{}{}{}", request.table, ToJson(request.key),
                     Optional("by", request.update), Optional("if", request.condition),
                     Returns(request));
}

std::string Show(const tables::DeleteRequest& request) {
  return fmt::format("delete {} {}{}{}", request.table, ToJson(request.key),
                     Optional("if", request.condition), Returns(request));
}

std::string Show(const tables::ConditionCheck& request) {
  return fmt::format("check {} {} if \"{}\"{}", request.table, ToJson(request.key),
                     request.condition, Bindings(request.names, request.values));
}

std::string Show(const tables::QueryRequest& request) {
  const std::string where = request.partition ? fmt::format("{} is {}", request.partition->name,
                                                            ToJson(request.partition->value))
                                              : request.key_condition;
  return fmt::format(
      "query {}{} where \"{}\"{}{}{}{}{}{}", request.table, Optional("index", request.index), where,
      Optional("filter", request.filter), Optional("project", request.projection),
      OptionalNumber("select", request.select), request.forward ? "" : " backwards",
      OptionalNumber("limit", request.limit), Bindings(request.names, request.values));
}

std::string Show(const tables::ScanRequest& request) {
  return fmt::format("scan {}{}{}{}{}{}", request.table, Optional("index", request.index),
                     Optional("filter", request.filter), OptionalNumber("limit", request.limit),
                     OptionalNumber("segments", request.total_segments),
                     Bindings(request.names, request.values));
}

std::string Show(const tables::BatchGetRequest& request) {
  std::string text = "batch get";
  for (const auto& [table, part] : request.tables) {
    text += " " + table + Optional("project", part.projection);
    for (const Item& key : part.keys) text += " " + ToJson(key);
  }
  return text;
}

std::string Show(const tables::BatchWriteRequest& request) {
  std::string text = "batch write";
  for (const auto& [table, actions] : request.tables) {
    text += " " + table;
    for (const auto& action : actions) {
      const auto* put = std::get_if<tables::BatchWriteRequest::Put>(&action);
      text += put ? " put " + ToJson(put->item)
                  : " delete " + ToJson(std::get<tables::BatchWriteRequest::Delete>(action).key);
    }
  }
  return text;
}

std::string Show(const tables::TransactGetRequest& request) {
  std::string text = "transact get";
  for (const tables::GetRequest& get : request.gets) text += "\n    " + Show(get);
  return text;
}

std::string Show(const tables::TransactWriteRequest& request) {
  std::string text = "transact write" + Optional("token", request.token);
  for (const tables::TransactAction& action : request.actions) {
    text += "\n    " + std::visit([](const auto& each) { return Show(each); }, action);
  }
  return text;
}

// ---- Replies ----

std::string Render(const std::optional<Item>& item) { return item ? ToJson(*item) : "none"; }

std::string Render(const Done&) { return "done"; }

std::string Render(const tables::WriteReply& reply) {
  return fmt::format("{} attributes {} failed on {}", reply.applied ? "applied" : "refused",
                     Render(reply.attributes), Render(reply.failed_on));
}

std::string RenderSorted(const std::vector<Item>& items) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(ToJson(item));
  std::sort(texts.begin(), texts.end());
  return fmt::format("{}", fmt::join(texts, "\n  "));
}

std::string Render(const tables::BatchGetReply& reply) {
  std::string text;
  for (const auto& [table, items] : reply.items) {
    if (!items.empty()) text += table + ": " + RenderSorted(items) + "\n";
  }
  return text + fmt::format("unprocessed {}", reply.unprocessed.size());
}

std::string Render(const tables::BatchWriteReply& reply) {
  return fmt::format("unprocessed {}", reply.unprocessed.size());
}

std::string Render(const tables::TransactGetReply& reply) {
  if (reply.cancelled) return "cancelled" + Reasons(reply.reasons);
  std::string text = "items";
  for (const auto& item : reply.items) text += " " + Render(item);
  return text;
}

std::string Render(const tables::TransactWriteReply& reply) {
  // It is not defined whether an invalid action is reported alone or together with failed
  // conditions.
  for (const auto& reason : reply.reasons) {
    if (reason.code == tables::CancellationCode::kValidationError) return "cancelled as invalid";
  }
  return fmt::format("outcome {}{}{}", static_cast<int>(reply.outcome),
                     reply.replayed ? " replayed" : "", Reasons(reply.reasons));
}

std::string Render(const tables::TableDescription& table) {
  std::string text = fmt::format("{} {} items {} bytes {} protected {} ttl {}", table.name,
                                 table.arn, table.item_count, table.size_bytes,
                                 table.deletion_protected, table.ttl_attribute.value_or("off"));
  if (table.latest_stream && table.latest_stream->enabled) {
    text += fmt::format(" stream {}", static_cast<int>(table.latest_stream->view));
  }
  for (const tables::IndexDescription& index : table.indexes) {
    text += fmt::format(" index {} state {}", index.spec.name, static_cast<int>(index.state));
    // The count of an index that is being filled or dropped is not defined.
    if (index.state == tables::IndexState::kActive) text += fmt::format(" {}", index.item_count);
  }
  return text;
}

std::string Render(const tables::ListTablesReply& reply) {
  return fmt::format("{} last {}", fmt::join(reply.tables, " "), reply.last.value_or("none"));
}

std::string Render(const tables::Tags& tags) {
  std::string text = "tags";
  for (const auto& [name, value] : tags) text += " " + name + "=" + value;
  return text;
}

std::string Render(std::vector<tables::StreamRecord> records) {
  // The order in which a sweep deletes items is not defined. So its records between two writes are
  // sorted.
  auto is_expired = [](const auto& record) { return record.expired; };
  for (auto from = records.begin(); from != records.end();) {
    from = std::find_if(from, records.end(), is_expired);
    auto to = std::find_if_not(from, records.end(), is_expired);
    std::sort(from, to, [](const auto& left, const auto& right) {
      return RenderRecord(left) < RenderRecord(right);
    });
    from = to;
  }
  std::string text = fmt::format("{} records", records.size());
  for (const auto& record : records) text += "\n  " + RenderRecord(record);
  return text;
}

}  // namespace tidemark::model
