// Names keeps in the archive what Slack's lists and look-ups say about people and channels, so that
// they have names even if no event ever told them. People are kept as they are listed. Of channels,
// only those that the archive has, or that an event names: the archive is no list of all channels.
//
// Used by one thread. A failure is logged; the next list has the same names again.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/archive/archive.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/import_writer.h"
#include "apps/archive/people.h"
#include "apps/gate/roster.h"
#include "base/failure_log.h"
#include "base/runtime.h"
#include "slack/entities.h"
#include "tables/tables.h"

namespace tidemark::api {

// All outlive the Names.
struct NamesParts {
  archive::Archive* archive = nullptr;
  archive::ChannelIndex* index = nullptr;
  tables::Tables* tables = nullptr;
};

class Names {
 public:
  Names(const NamesParts& parts, const Runtime& runtime);

  // A page of a list.
  void Keep(const gate::PageOrigin& origin, const std::vector<slack::Person>& people);
  void Keep(const gate::PageOrigin& origin, const std::vector<slack::Conversation>& conversations);
  // What events named.
  void Keep(const std::vector<gate::Found>& found);

 private:
  using KeptPeople = std::unordered_map<std::string, slack::Person>;

  Status StorePeople(const gate::PageOrigin& origin, const std::vector<slack::Person>& people);
  Status StoreChannels(const gate::PageOrigin& origin,
                       const std::vector<slack::Conversation>& conversations);
  Status StoreFound(const std::vector<gate::Found>& found);

  archive::ChannelIndex& index_;
  const archive::People people_;
  archive::ImportWriter writer_;
  FailureLog failures_;
  // What the archive shows, by team, so that a list that repeats itself costs no reads.
  std::map<slack::TeamId, KeptPeople> kept_;
};

}  // namespace tidemark::api
