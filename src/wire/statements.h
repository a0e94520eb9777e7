// ExecuteStatement: a statement of PartiQL. It is parsed while the request is decoded, so that a
// server knows which table it uses.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "wire/calls.h"
#include "wire/problems.h"

namespace tidemark::wire {

Result<Call> DecodeExecuteStatement(const Json& body, Layer layer);

}  // namespace tidemark::wire
