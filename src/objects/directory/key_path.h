// Where an object's file lies in the folder; docs/formats/objects.md, "From a key to a path". May
// be called from any thread.
//
// Every key has one path, and every path is that of at most one key. A path is relative, has no
// empty, "." or ".." component, none longer than 255 bytes, and none that begins with a dot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::directory {

// Of a key that objects::ValidateKey takes.
std::string PathOfKey(std::string_view key);

// The folder of the keys that begin like this one up to its last slash: "slack/T1/", or empty.
std::string FolderOfKey(std::string_view key);

// nullopt when no key has this path.
std::optional<std::string> KeyOfPath(std::string_view path);

// One name of a folder's entry, read by itself.
struct PartOfKey {
  std::string text;        // As in the key, without slashes.
  bool continues = false;  // The part goes on in the entries of this folder.
};
// nullopt when it is the name of no part of a key; what it gives may still be no key's way of
// writing it, which KeyOfPath of the whole path says.
std::optional<PartOfKey> PartOfFile(std::string_view name);
std::optional<PartOfKey> PartOfFolder(std::string_view name);

}  // namespace tidemark::directory
