// Requests and replies as text, to compare two implementations and to show where they differ. The
// text of a reply leaves out what an implementation may choose: error texts, ids, sequence numbers,
// and the order in which a sweep finds items.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::model {

std::string Show(const tables::GetRequest& request);
std::string Show(const tables::PutRequest& request);
std::string Show(const tables::UpdateRequest& request);
std::string Show(const tables::DeleteRequest& request);
std::string Show(const tables::ConditionCheck& request);
std::string Show(const tables::QueryRequest& request);
std::string Show(const tables::ScanRequest& request);
std::string Show(const tables::BatchGetRequest& request);
std::string Show(const tables::BatchWriteRequest& request);
std::string Show(const tables::TransactGetRequest& request);
std::string Show(const tables::TransactWriteRequest& request);

std::string Render(const std::optional<item::Item>& item);
std::string Render(const Done& done);
std::string Render(const tables::WriteReply& reply);
std::string Render(const tables::BatchGetReply& reply);
std::string Render(const tables::BatchWriteReply& reply);
std::string Render(const tables::TransactGetReply& reply);
std::string Render(const tables::TransactWriteReply& reply);
std::string Render(const tables::TableDescription& table);
std::string Render(const tables::ListTablesReply& reply);
std::string Render(const tables::Tags& tags);
std::string Render(std::vector<tables::StreamRecord> records);

template <typename T>
std::string Render(const Result<T>& result) {
  return result ? Render(*result) : "error " + std::string(ToString(result.error().code));
}

// Items whose order is free.
std::string RenderSorted(const std::vector<item::Item>& items);

}  // namespace tidemark::model
