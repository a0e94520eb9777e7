#include "apps/archive/shown_body.h"

#include <string_view>

#include <fmt/format.h>

#include "apps/archive/json_fields.h"
#include "base/json.h"
#include "base/shown_text.h"

namespace tidemark::archive {

namespace {

// A line in a list. The rest is in the attachments themselves.
constexpr size_t kMaxSummaryBytes = 500;
// Slack's own fallback for attachments that are made of blocks. It says nothing.
constexpr std::string_view kNoPreview = "[no preview available]";

// The message in the event: a change or a deletion has it inside.
Json MessageIn(const Json& event) {
  for (const std::string_view name : {"message", "previous_message"}) {
    const MaybeJson message = event.Find(name);
    if (message && message->IsObject()) return *message;
  }
  return event;
}

// Most messages of people have no attachments, and all of them are asked for in a list. So an event
// is parsed only if it names the member at all.
std::string PartOf(const Body& body, std::string_view name, const std::string& stored) {
  if (body.raw_event.empty()) return stored;
  if (body.raw_event.find(fmt::format("\"{}\"", name)) == std::string::npos) return {};
  const auto event = JsonDocument::Parse(body.raw_event);
  if (!event) return {};
  const MaybeJson part = MessageIn(event->root()).Find(name);
  return part && part->Size() > 0 ? ToText(*part) : std::string();
}

void AddWords(std::string_view words, std::string* line) {
  if (words.empty() || line->size() >= kMaxSummaryBytes) return;
  if (!line->empty()) *line += ' ';
  *line += words;
}

// The texts of blocks, in their order. A block's text is a string or an object with a `text`, and
// blocks are nested in elements and fields. Slack limits the depth of blocks, and the parser limits
// the depth of all JSON.
void AddTexts(const Json& block, std::string* line) {
  for (const Json element : block.Elements()) AddTexts(element, line);
  if (const MaybeJson text = block.Find("text")) {
    AddWords(text->AsString().value_or(""), line);
    if (text->IsObject()) AddTexts(*text, line);
  }
  for (const std::string_view name : {"title", "elements", "fields"}) {
    const MaybeJson inside = block.Find(name);
    if (inside && (inside->IsObject() || inside->IsArray())) AddTexts(*inside, line);
  }
}

// What Slack shows of an attachment comes first. Of a quoted message only its address is kept.
std::string WordsOf(const Json& attachment) {
  std::string words;
  for (const std::string_view name : {"pretext", "title", "text"}) {
    AddWords(FindTextIn(attachment, name).value_or(""), &words);
  }
  if (words.empty() && FindTextIn(attachment, "fallback") != kNoPreview) {
    words = TextIn(attachment, "fallback");
  }
  const MaybeJson blocks = attachment.Find("blocks");
  if (words.empty() && blocks) AddTexts(*blocks, &words);
  for (const std::string_view name : {"from_url", "original_url", "title_link", "image_url"}) {
    const std::string_view url = FindTextIn(attachment, name).value_or("");
    if (words.empty() && !url.empty()) words = fmt::format("[{}]", url);
  }
  return words;
}

// Cuts behind a whole character.
std::string Shortened(std::string line) {
  if (line.size() <= kMaxSummaryBytes) return line;
  std::string_view rest = line;
  size_t size = 0;
  while (true) {
    const size_t next = FirstCharacter(rest).size();
    if (size + next > kMaxSummaryBytes) break;
    size += next;
    rest.remove_prefix(next);
  }
  return line.substr(0, size) + "…";
}

}  // namespace

std::string BlocksOf(const Body& body) { return PartOf(body, "blocks", body.blocks); }

std::string AttachmentsOf(const Body& body) {
  return PartOf(body, "attachments", body.attachments);
}

std::string SummaryOf(const Message& message) {
  if (message.body && message.body->text && !message.body->text->empty()) return {};
  std::string line;
  if (message.body) {
    if (const auto blocks = JsonDocument::Parse(BlocksOf(*message.body))) {
      AddTexts(blocks->root(), &line);
    }
    if (const auto attachments = JsonDocument::Parse(AttachmentsOf(*message.body))) {
      for (const Json attachment : attachments->root().Elements()) {
        AddWords(WordsOf(attachment), &line);
      }
    }
  }
  for (const FileMeta& file : ShownFiles(message)) {
    const std::string& name = file.name.empty() ? file.title : file.name;
    AddWords(fmt::format("[{}]", name.empty() ? file.id : name), &line);
  }
  return Shortened(std::move(line));
}

}  // namespace tidemark::archive
