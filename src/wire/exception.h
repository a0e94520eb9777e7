// The errors of the protocol. An Error becomes the reply that DynamoDB gives in the same case, and
// such a reply becomes an Error again. Pure functions.
//
//   {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"…"}
//
// Outcomes that a reply of Tables has as fields, such as a condition that does not hold, are
// exceptions too. Operations encode and decode these themselves (operation.h).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "wire/message.h"

namespace tidemark::wire {

// The names of exceptions that are outcomes.
inline constexpr std::string_view kConditionFailed = "ConditionalCheckFailedException";
inline constexpr std::string_view kTransactionCancelled = "TransactionCanceledException";
inline constexpr std::string_view kTokenMismatch = "IdempotentParameterMismatchException";
inline constexpr std::string_view kExpiredIterator = "ExpiredIteratorException";
inline constexpr std::string_view kTrimmedData = "TrimmedDataAccessException";

// The reply for an error.
Message EncodeError(const Error& error);
// The reply for an operation that does not exist.
Message UnknownOperation(std::string_view name);
// The reply for an exception of AWS's common service, such as UnrecognizedClientException. An empty
// message is left out: AWS sends some of them without one.
Message EncodeServiceException(std::string_view name, std::string_view message = "");

// The reply for one of DynamoDB's own exceptions, with further members beside the message.
Message EncodeException(std::string_view name, std::string_view message,
                        const std::function<void(JsonWriter*)>& add_members = nullptr);

// The reply for a transaction that was cancelled: the code of each action, and their reasons.
Message EncodeCancelled(std::span<const std::string_view> codes,
                        const std::function<void(JsonWriter*)>& add_reasons);

// The reply for a token that was used for another transaction.
Message EncodeTokenMismatch();

// The name without the prefix; empty when the body is not an exception.
std::string_view ExceptionIn(const Json& body);
// The error for a reply with this body and a status other than 200.
Error DecodeError(int status, const Json& body);

}  // namespace tidemark::wire
