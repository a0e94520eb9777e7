// Requests of DynamoDB's protocol: the first line is the name of an operation, the rest is its
// JSON. A request that is accepted is encoded as JSON that decodes to a request with the same
// encoding.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "wire/operation.h"

namespace wire = tidemark::wire;
using tidemark::JsonDocument;

namespace {

template <typename Request, typename Reply>
void Try(const wire::Operation<Request, Reply>& operation, std::string_view name,
         const JsonDocument& body) {
  // Replies of all operations are tried with every input.
  (void)operation.decode_reply(body.root()).has_value();
  if (operation.decode_outcome != nullptr) {
    (void)operation.decode_outcome(wire::ExceptionIn(body.root()), body.root()).has_value();
  }
  if (operation.name != name) return;
  const auto request = operation.decode_request(body.root(), wire::Layer::kOlder);
  if (!request) return;
  const std::string text = operation.encode_request(*request);
  const auto document = JsonDocument::Parse(text);
  CHECK(document.has_value());
  const auto again = operation.decode_request(document->root(), wire::Layer::kOlder);
  CHECK(again.has_value());
  CHECK(operation.encode_request(*again) == text);
}

template <typename... Operation>
void TryAll(std::string_view name, const JsonDocument& body, const Operation&... operations) {
  (Try(operations, name, body), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto body = JsonDocument::Parse(input.substr(end + 1));
  if (!body) return 0;
  TryAll(input.substr(0, end), *body, wire::kCreateTable, wire::kDescribeTable, wire::kUpdateTable,
         wire::kDeleteTable, wire::kListTables, wire::kUpdateTimeToLive, wire::kDescribeTimeToLive,
         wire::kTagResource, wire::kUntagResource, wire::kListTagsOfResource, wire::kGetItem,
         wire::kPutItem, wire::kUpdateItem, wire::kDeleteItem, wire::kQuery, wire::kScan,
         wire::kBatchGetItem, wire::kBatchWriteItem, wire::kTransactGetItems,
         wire::kTransactWriteItems, wire::kListStreams, wire::kDescribeStream,
         wire::kGetShardIterator, wire::kGetRecords);
  return 0;
}
