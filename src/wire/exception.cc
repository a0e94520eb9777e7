#include "wire/exception.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "item/json.h"

namespace tidemark::wire {

namespace {

constexpr std::string_view kOwnPrefix = "com.amazonaws.dynamodb.v20120810#";
constexpr std::string_view kServicePrefix = "com.amazon.coral.service#";
constexpr std::string_view kSerialization = "SerializationException";
constexpr std::string_view kLimitExceeded = "LimitExceededException";
// What the texts of DynamoDB's LimitExceededException begin with.
constexpr std::string_view kLimitText = "Subscriber limit exceeded: ";

struct Exception {
  ErrorCode code;
  std::string_view name;
  std::string_view prefix;
  int status;
};

// An error is encoded as the first row with its code, and an exception is decoded by the first row
// with its name. Codes that DynamoDB does not distinguish share a name.
constexpr Exception kExceptions[] = {
    {ErrorCode::kInvalid, "ValidationException", "com.amazon.coral.validate#", 400},
    {ErrorCode::kInvalid, kSerialization, kServicePrefix, 400},
    {ErrorCode::kInvalid, "UnknownOperationException", kServicePrefix, 400},
    {ErrorCode::kNotFound, "ResourceNotFoundException", kOwnPrefix, 400},
    {ErrorCode::kInUse, "ResourceInUseException", kOwnPrefix, 400},
    {ErrorCode::kInUse, kLimitExceeded, kOwnPrefix, 400},
    {ErrorCode::kConflict, "TransactionConflictException", kOwnPrefix, 400},
    {ErrorCode::kThrottled, "ThrottlingException", "com.amazon.coral.availability#", 400},
    {ErrorCode::kThrottled, "ProvisionedThroughputExceededException", kOwnPrefix, 400},
    {ErrorCode::kThrottled, "RequestLimitExceeded", kOwnPrefix, 400},
    {ErrorCode::kDenied, "AccessDeniedException", kServicePrefix, 400},
    {ErrorCode::kUnavailable, "ServiceUnavailable", kServicePrefix, 503},
    {ErrorCode::kUnreachable, "ServiceUnavailable", kServicePrefix, 503},
    {ErrorCode::kCancelled, "ServiceUnavailable", kServicePrefix, 503},
    // A write may have been made before the error.
    {ErrorCode::kUnknown, "InternalServerError", kOwnPrefix, 500},
    {ErrorCode::kCorrupt, "InternalServerError", kOwnPrefix, 500},
    {ErrorCode::kInternal, "InternalServerError", kOwnPrefix, 500},
};

const Exception* FindByName(std::string_view name) {
  const auto* found = std::ranges::find(kExceptions, name, &Exception::name);
  return found == std::end(kExceptions) ? nullptr : found;
}

// As in AWS's model.
bool HasCapitalMessage(std::string_view exception) {
  return exception == kSerialization || exception == kTransactionCancelled ||
         exception == kTokenMismatch;
}

Message MakeReply(const Exception& exception, std::string_view message,
                  const std::function<void(JsonWriter*)>& add_members) {
  Message reply{.status = exception.status};
  JsonWriter writer(&reply.body);
  writer.BeginObject();
  writer.Key("__type");
  writer.String(fmt::format("{}{}", exception.prefix, exception.name));
  if (!message.empty()) {
    writer.Key(HasCapitalMessage(exception.name) ? "Message" : "message");
    writer.String(message);
  }
  if (add_members) add_members(&writer);
  writer.EndObject();
  return reply;
}

}  // namespace

Message EncodeError(const Error& error) {
  std::string_view message = error.message;
  if (error.code == ErrorCode::kInvalid && message.starts_with(item::kSerializationPrefix)) {
    message.remove_prefix(item::kSerializationPrefix.size());
    return MakeReply(*FindByName(kSerialization), message, nullptr);
  }
  if (message.starts_with(kLimitText)) {
    return MakeReply(*FindByName(kLimitExceeded), message, nullptr);
  }
  return MakeReply(*std::ranges::find(kExceptions, error.code, &Exception::code), message, nullptr);
}

Message UnknownOperation(std::string_view name) {
  return MakeReply(*FindByName("UnknownOperationException"),
                   fmt::format("there is no operation '{}' here", name), nullptr);
}

Message EncodeServiceException(std::string_view name, std::string_view message) {
  return MakeReply({ErrorCode::kInvalid, name, kServicePrefix, 400}, message, nullptr);
}

Message EncodeException(std::string_view name, std::string_view message,
                        const std::function<void(JsonWriter*)>& add_members) {
  return MakeReply({ErrorCode::kInvalid, name, kOwnPrefix, 400}, message, add_members);
}

Message EncodeCancelled(std::span<const std::string_view> codes,
                        const std::function<void(JsonWriter*)>& add_reasons) {
  const std::string message = fmt::format(
      "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
      fmt::join(codes, ", "));
  return EncodeException(kTransactionCancelled, message, add_reasons);
}

Message EncodeTokenMismatch() {
  return EncodeException(kTokenMismatch,
                         "The provided client token does not match the original request: a token "
                         "identifies one set of actions");
}

std::string_view ExceptionIn(const Json& body) {
  const auto type = body.Find("__type");
  const std::string_view text = type ? type->AsString().value_or("") : "";
  // A text without '#' is the name alone: npos + 1 is 0.
  return text.substr(text.rfind('#') + 1);
}

Error DecodeError(int status, const Json& body) {
  const std::string_view name = ExceptionIn(body);
  std::string message = TextIn(body, "message");
  if (message.empty()) message = TextIn(body, "Message");
  if (message.empty()) message = fmt::format("the server answered {} {}", status, name);
  if (const Exception* exception = FindByName(name)) {
    if (name == kSerialization) message.insert(0, item::kSerializationPrefix);
    return {exception->code, std::move(message)};
  }
  if (!name.empty()) message = fmt::format("{}: {}", name, message);
  if (status == 503) return {ErrorCode::kUnavailable, std::move(message)};
  if (status >= 500) return {ErrorCode::kUnknown, std::move(message)};
  return Invalid(std::move(message));
}

}  // namespace tidemark::wire
