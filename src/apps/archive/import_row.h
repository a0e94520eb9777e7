// Reads one row of an export. A row means the same to the archive as the event that Slack sent, or
// would have sent, for that message. A pure function of the row.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/archive/read_event.h"
#include "base/json.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

struct ImportedMessage {
  MessageNews news;
  std::vector<ReactionNews> reactions = {};
};

// Left out, like the event would be: a join or a leave.
struct LeftOut {};

// Cannot be used. The reason is for the import report.
struct BadRow {
  std::string reason;
};

// ScopedChannelNews comes from messages that tell of a new topic, name and the like.
using ImportedRow = std::variant<ImportedMessage, ScopedChannelNews, LeftOut, BadRow>;

struct ImportContext {
  Place place;
  bool is_public = true;
  // Exports do not say when a message was deleted: the time of the import counts.
  slack::Timestamp now;
  ReadOptions read = {};
};

// Never fails: a row that cannot be used is a BadRow.
ImportedRow ReadImportedRow(const Json& row, const ImportContext& context);

}  // namespace tidemark::archive
