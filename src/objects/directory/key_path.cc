#include "objects/directory/key_path.h"

#include <algorithm>
#include <vector>

#include "objects/validate.h"

namespace tidemark::directory {

namespace {

// With a mark of two bytes a name stays below 255 bytes, the limit of file systems.
constexpr size_t kMaxPieceBytes = 240;
constexpr std::string_view kContinued = "%+";
constexpr std::string_view kEmptyFolder = "%%";
constexpr char kMark = '%';
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool IsEscaped(char c, bool is_first) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f || c == '%' || (c == '.' && is_first);
}

bool IsInsideCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string Escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
}

// The first character of the text, escaped for a name. `is_first`: it begins the name.
std::string UnitOf(std::string_view text, bool is_first) {
  if (IsEscaped(text[0], is_first)) return Escape(text[0]);
  size_t length = 1;
  while (length < text.size() && IsInsideCharacter(text[length])) ++length;
  return std::string(text.substr(0, length));
}

// The escaped part, cut into pieces that are short enough for names.
std::vector<std::string> PiecesOf(std::string_view part) {
  std::vector<std::string> pieces(1);
  while (!part.empty()) {
    std::string unit = UnitOf(part, pieces.back().empty());
    part.remove_prefix(unit[0] == '%' ? 1 : unit.size());
    if (pieces.back().size() + unit.size() > kMaxPieceBytes) {
      pieces.emplace_back();
      // Each piece is a name, so it must not begin with a dot either.
      if (unit == ".") unit = Escape('.');
    }
    pieces.back() += unit;
  }
  return pieces;
}

bool HasDot(std::string_view part) { return part.find('.') != std::string_view::npos; }

enum class Kind { kFile, kFolder };

std::string Encode(std::string_view part, Kind kind) {
  if (part.empty() && kind == Kind::kFolder) return std::string(kEmptyFolder);
  const std::vector<std::string> pieces = PiecesOf(part);
  std::string path;
  for (size_t i = 0; i + 1 < pieces.size(); ++i) path.append(pieces[i]).append(kContinued) += '/';
  path += pieces.back();
  if (HasDot(part) != (kind == Kind::kFile)) path += kMark;
  return path;
}

std::optional<std::string> Unescape(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      text += name[i];
      continue;
    }
    if (name.size() - i < 3) return std::nullopt;
    const size_t high = kHexDigits.find(name[i + 1]);
    const size_t low = kHexDigits.find(name[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

// A mark is a '%' at the end, which cannot be an escape.
std::optional<PartOfKey> WithoutMark(std::string_view name) {
  if (name.ends_with(kMark)) name.remove_suffix(1);
  auto text = Unescape(name);
  if (!text) return std::nullopt;
  return PartOfKey{.text = std::move(*text)};
}

// Decodes the path without checking that it is the right encoding.
std::optional<std::string> ReadLoosely(std::string_view path) {
  std::string key;
  for (size_t start = 0;;) {
    const size_t slash = path.find('/', start);
    const bool is_file = slash == std::string_view::npos;
    const std::string_view name = path.substr(start, is_file ? slash : slash - start);
    const auto part = is_file ? PartOfFile(name) : PartOfFolder(name);
    if (!part) return std::nullopt;
    key += part->text;
    if (is_file) return key;
    if (!part->continues) key += '/';
    start = slash + 1;
  }
}

}  // namespace

std::string FolderOfKey(std::string_view key) {
  std::string path;
  for (size_t slash; (slash = key.find('/')) != std::string_view::npos;) {
    path.append(Encode(key.substr(0, slash), Kind::kFolder)) += '/';
    key.remove_prefix(slash + 1);
  }
  return path;
}

std::string PathOfKey(std::string_view key) {
  // Without a slash, npos + 1 is 0.
  return FolderOfKey(key) + Encode(key.substr(key.rfind('/') + 1), Kind::kFile);
}

std::optional<std::string> KeyOfPath(std::string_view path) {
  auto key = ReadLoosely(path);
  if (!key || !objects::ValidateKey(*key) || PathOfKey(*key) != path) return std::nullopt;
  return key;
}

std::optional<PartOfKey> PartOfFile(std::string_view name) {
  if (name.empty()) return std::nullopt;
  return WithoutMark(name);
}

std::optional<PartOfKey> PartOfFolder(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name == kEmptyFolder) return PartOfKey{};
  if (!name.ends_with(kContinued)) return WithoutMark(name);
  name.remove_suffix(kContinued.size());
  auto text = Unescape(name);
  if (!text) return std::nullopt;
  return PartOfKey{.text = std::move(*text), .continues = true};
}

}  // namespace tidemark::directory
