// Lists reads Slack's lists of conversations and of users, one page at a time. WebApi implements it
// with calls to Slack.
//
//   ListRequest request{.team = team, .limit = kLargestListPage};
//   lists.ListUsers(token, request, deadline).Then([](Result<CallResult<ListPage<Person>>> page) {
//     ... request.cursor = page.next_cursor, until that is empty ...
//   });
//
// A page may have fewer entries than asked for, and even none, and still not be the last one: only
// an empty cursor ends a list. A list is not a snapshot: what changes while it is read may be in it
// twice or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/deadline.h"
#include "base/later.h"
#include "base/secret.h"
#include "slack/entities.h"

namespace tidemark::slack {

// Slack takes no limit of 1,000 or more.
inline constexpr uint32_t kLargestListPage = 999;

// Why a call failed, by what the caller can do about it.
enum class CallFailure { kTimeout, kRateLimited, kNotFound, kDenied, kOther };

struct CallError {
  CallFailure failure = CallFailure::kOther;
  std::string error;  // Slack's error code ("missing_scope") or our own.
};
// The error of an answer that is larger than we read.
inline constexpr std::string_view kTooLarge = "too_large";

// The value, or why the call failed.
template <typename T>
using CallResult = std::variant<T, CallError>;
template <typename T>
using LaterCall = Later<CallResult<T>>;

// Each type is a list of its own. In a list of both types, Slack filters after it has cut the
// pages, and returns many pages that are nearly empty.
enum class ConversationType { kPublic, kPrivate };

struct ListRequest {
  std::string team;         // Org-wide tokens need it; other tokens ignore it.
  std::string cursor = {};  // Of the page before; empty for the first page.
  uint32_t limit = kLargestListPage;
};

template <typename T>
struct ListPage {
  std::vector<T> entries;
  std::string next_cursor;  // Empty: this is the last page.
};

class Lists {
 public:
  virtual ~Lists() = default;
  // One try, which does not block: the page comes later, on another thread, and not after the
  // deadline. Entries without a valid id are left out. May be called from any thread.
  virtual LaterCall<ListPage<Conversation>> ListConversations(const Secret& token,
                                                              ConversationType type,
                                                              const ListRequest& request,
                                                              const Deadline& deadline) = 0;
  virtual LaterCall<ListPage<Person>> ListUsers(const Secret& token, const ListRequest& request,
                                                const Deadline& deadline) = 0;
};

}  // namespace tidemark::slack
