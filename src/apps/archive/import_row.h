// What a row of an export means to the archive: the same as the event that Slack sent of it, or
// would have sent. A pure function of the row.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/archive/reading.h"
#include "base/json.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

struct ImportedMessage {
  MessageNews news;
  std::vector<ReactionNews> reactions = {};
};

// Left out, as it is of an event: a join, a leave.
struct LeftOut {};

// Of no use, and why.
struct BadRow {
  std::string reason;
};

// ChannelNews is what topics, names and the like tell.
using ImportedRow = std::variant<ImportedMessage, ScopedChannelNews, LeftOut, BadRow>;

struct ImportContext {
  Place place;
  bool is_public = true;
  // A deleted message that an export shows was deleted by now.
  slack::Timestamp now;
  ReadOptions read = {};
};

ImportedRow ReadImportedRow(const Json& row, const ImportContext& context);

}  // namespace tidemark::archive
