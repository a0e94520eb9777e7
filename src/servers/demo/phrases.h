// The names and the sentences of the people in the simulated workspace.
//
// A sentence is a list of spans, from which both the text and the blocks of a message are made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace tidemark::demo {

enum class SpanKind { kText, kUser, kLink, kEmoji };

// The text itself, a user's id, an address, or the name of an emoji.
struct Span {
  SpanKind kind = SpanKind::kText;
  std::string text;
  friend bool operator==(const Span&, const Span&) = default;
};

// Some sentences. `mentioned` is the user that a mention names. Lengths are spread as in real
// channels: most are one sentence, a few are pages.
std::vector<Span> ComposeMessage(std::string_view mentioned, Random& random);
// One sentence without mention or link.
std::vector<Span> ComposeSentence(Random& random);
// The same with the kind of correction that people make to what they wrote.
std::vector<Span> Correct(std::vector<Span> spans, Random& random);

// As Slack writes it into "text": mentions as <@U…>, links in angles, emoji between colons, and
// the three characters of markup escaped.
std::string TextOf(const std::vector<Span>& spans);
bool HasLink(const std::vector<Span>& spans);

struct PersonName {
  std::string handle;
  std::string real_name;
};
// A different one for each number.
PersonName NameOfPerson(size_t number);
// A different one for each number; the first are those of the busiest channels.
std::string NameOfChannel(size_t number);

std::string_view PickTitle(Random& random);
std::string_view PickTimeZone(Random& random);
std::string_view PickReaction(Random& random);
std::string_view PickTopic(Random& random);

struct StatusLine {
  std::string_view emoji;
  std::string_view text;
};
StatusLine PickStatus(Random& random);

struct FileTemplate {
  std::string_view stem;
  std::string_view extension;
  std::string_view mimetype;
};
FileTemplate PickFile(Random& random);

}  // namespace tidemark::demo
