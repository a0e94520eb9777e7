// The path of an object's file (docs/formats/objects.md, "From a key to a path"). Any thread may
// call these functions.
//
// Every key has one path, and every path belongs to at most one key. A path is relative. None of
// its components is empty, "." or "..", begins with a dot, or is longer than 255 bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::directory {

// The key must be one that objects::ValidateKey accepts.
std::string PathOfKey(std::string_view key);

// The folder of all keys with the same prefix up to the last slash, such as "slack/T1/", or empty.
std::string FolderOfKey(std::string_view key);

// Returns nullopt if no key has this path.
std::optional<std::string> KeyOfPath(std::string_view path);

// The name of one entry of a folder, decoded.
struct PartOfKey {
  std::string text;        // The part of the key, without slashes.
  bool continues = false;  // The part continues in the entries of this folder.
};
// Returns nullopt if the name cannot be part of a key. A name that decodes may still not be the
// right encoding; KeyOfPath checks that for the whole path.
std::optional<PartOfKey> PartOfFile(std::string_view name);
std::optional<PartOfKey> PartOfFolder(std::string_view name);

}  // namespace tidemark::directory
