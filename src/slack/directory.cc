#include "slack/directory.h"

namespace tidemark::slack {

std::string_view ToString(EntityKind kind) {
  switch (kind) {
    case EntityKind::kTeam:
      return "team";
    case EntityKind::kUser:
      return "user";
    case EntityKind::kChannel:
      return "channel";
  }
  return "";
}

}  // namespace tidemark::slack
