// ExecuteStatement, BatchExecuteStatement and ExecuteTransaction: statements of PartiQL. They are
// parsed while the request is decoded, so that a server knows which tables they use.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "wire/calls.h"
#include "wire/problems.h"

namespace tidemark::wire {

Result<Call> DecodeExecuteStatement(const Json& body, Layer layer);
Result<Call> DecodeBatchExecuteStatement(const Json& body, Layer layer);
Result<Call> DecodeExecuteTransaction(const Json& body, Layer layer);

}  // namespace tidemark::wire
