// Who makes a change, and why: for the audit log.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::attempts {

struct Author {
  std::string actor = {};  // The name of the caller's token, or "command line".
  std::string request_id = {};
  std::string reason = {};  // As a person gave it.
};

// The text with "{address}" in place of each word that has an '@'. People write addresses into
// reasons, and an address is neither stored nor logged.
std::string WithoutAddresses(std::string_view text);

}  // namespace tidemark::attempts
