// The files of conformance tests.
//
//   A condition that does not hold writes nothing.       ← why: one line
//                                                        ← an empty line
//   PutItem                                              ← the operation
//   {"TableName": "things", …}                           ← its request, up to the reply
//   200                                                  ← the reply: 200 and its JSON,
//   {}
//
//   PutItem                                              ← and so on
//   …
//   400 ConditionalCheckFailedException                  ← or an error with its message, which may
//   The conditional request failed                         be followed by other members as JSON
//
// A file "older*.test" is for a server with dynamodb.older-wording = true.
//
// In an expected JSON, the text "…" stands for any value. All other members must be equal, and
// there must be no others. The order of members is free, that of elements is not.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tidemark::conformance {

struct Exchange {
  int line = 0;  // Where it begins in the file.
  std::string operation;
  std::string request;
  int status = 0;
  std::string exception;  // Of an error.
  std::string message;
  std::string reply;  // JSON; of an error: the other members.
};

struct TestFile {
  std::string why;
  std::vector<Exchange> exchanges;
};

Result<TestFile> ParseTestFile(const std::string& text);

// Empty when the value is as expected; otherwise what differs, with its place.
std::string Difference(const Json& expected, const Json& actual, const std::string& place = "");

}  // namespace tidemark::conformance
