// Text that strangers wrote, made safe to show: on a terminal, in a table, in a header.
//
// Some characters do not show themselves but change what is around them: control characters (U+009B
// begins a command of a terminal, as ESC [ does), line separators, and marks of writing direction,
// which make "gpj.exe" look like "exe.jpg".
//
// Pure functions. The texts are UTF-8; a byte that is not counts as a character of its own.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

// The first character of the text, which must not be empty.
std::string_view FirstCharacter(std::string_view text);

// Whether the character changes how the text around it is shown.
bool ChangesDisplay(std::string_view character);

// The text with a space in place of each such character.
std::string WithoutDisplayChanges(std::string_view text);

// JSON with an escape (\u009b) in place of each such character: it has the same value.
std::string EscapeDisplayChanges(std::string_view json);

}  // namespace tidemark
