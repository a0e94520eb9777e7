// The archive's table, with the reads and the write that several parts of the archive share.
//
//   const ArchiveTable table(&tables, "SlackArchive");
//   std::optional<Channel> channel = TRY(table.FindChannel(place));
//
// A small value: copy it. May be used from any thread. All reads are consistent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/archive/channel.h"
#include "apps/archive/keys.h"
#include "apps/archive/message.h"
#include "base/result.h"
#include "item/value.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

class ArchiveTable {
 public:
  // The tables outlive this.
  ArchiveTable(tables::Tables* tables, std::string name)
      : tables_(*tables), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  tables::Tables& tables() const { return tables_; }

  // nullopt when there is no such row.
  Result<std::optional<item::Item>> Get(std::string_view item_id, std::string_view timestamp) const;
  // All rows of a partition, in the order of their timestamps.
  Result<std::vector<item::Item>> ReadPartition(const std::string& item_id) const;
  // A query of a partition that the caller narrows down: its key condition is "#k = :k".
  tables::QueryRequest QueryOf(const std::string& item_id) const;

  // nullopt when there is no such message.
  Result<std::optional<Message>> FindMessage(const Place& place, const slack::Timestamp& ts) const;
  // The channel as all its rows say together. nullopt when it has no row; it may have messages.
  Result<std::optional<Channel>> FindChannel(const Place& place) const;
  Result<bool> HasMessages(const Place& place) const;
  // Whether any row tells of the channel: messages, reactions, a mark in the coverage ledger, or a
  // change of its id. A channel that is known may still have no messages.
  Result<bool> Knows(const Place& place) const;

  // Every id that the channel has or had, this one included, ordered by their texts. Rows are kept
  // under the id of their event; what is known of a message is the join of its rows under all ids.
  Result<std::vector<Place>> IdsOf(const Place& place) const;
  // The id that took the place of this one; nullopt when it has not changed.
  Result<std::optional<slack::ChannelId>> NextIdOf(const Place& place) const;

  // Makes the transaction. False: another writer changed a row after it was read,
  // or is changing it now. Nothing was written then, and the caller plans again.
  // kInternal when the store refuses an action as invalid, which is a fault of the program.
  Result<bool> Write(const tables::TransactWriteRequest& request) const;

 private:
  Result<bool> HasRows(const std::string& item_id) const;
  // The ids that the channel got later, and the one it had before.
  Result<std::vector<Place>> NeighboursOf(const Place& place) const;

  tables::Tables& tables_;
  std::string name_;
};

}  // namespace tidemark::archive
