#include "apps/archive/without_copies.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "apps/archive/json_fields.h"

namespace tidemark::archive {

namespace {

// What stays of a copy: where it came from, and nothing that its author wrote.
constexpr std::array<std::string_view, 13> kReference = {
    "id",       "ts",           "thread_ts",     "channel",  "channel_id", "channel_team", "user",
    "from_url", "original_url", "is_msg_unfurl", "is_share", "author_id",  "type"};

// Nearly all events have none of these members, and need not be searched.
constexpr std::array<std::string_view, 3> kCarriers = {
    "\"root\":", "\"attachments\":", "\"item\":"};

bool MayHaveCopies(std::string_view text) {
  return std::ranges::any_of(kCarriers, [&](std::string_view carrier) {
    return text.find(carrier) != std::string_view::npos;
  });
}

// "https://example.slack.com/archives/C01234567/p1714557600000100"
bool IsPermalink(std::string_view url) {
  return url.find(".slack.com/archives/") != std::string_view::npos;
}

// An attachment that shows a message: somebody has shared or pinned it, or linked to it.
bool IsQuote(const Json& attachment) {
  return IsTrueIn(attachment, "is_msg_unfurl") || IsTrueIn(attachment, "is_share") ||
         attachment.Find("message_blocks") ||
         (attachment.Find("channel_id") && attachment.Find("ts")) ||
         IsPermalink(FindTextIn(attachment, "from_url").value_or("")) ||
         IsPermalink(FindTextIn(attachment, "original_url").value_or(""));
}

void WriteReference(const Json& copy, JsonWriter* writer) {
  writer->BeginObject();
  for (const auto& [name, value] : copy.Members()) {
    if (std::ranges::find(kReference, name) == kReference.end()) continue;
    if (value.IsObject() || value.IsArray()) continue;
    writer->Key(name);
    writer->Raw(ToText(value));
  }
  writer->EndObject();
}

void WriteOwn(const Json& value, JsonWriter* writer);

void WriteAttachments(const Json& attachments, JsonWriter* writer) {
  writer->BeginArray();
  for (const Json attachment : attachments.Elements()) {
    IsQuote(attachment) ? WriteReference(attachment, writer) : WriteOwn(attachment, writer);
  }
  writer->EndArray();
}

// The messages inside a message_changed or message_deleted event are the message itself.
void WriteOwn(const Json& value, JsonWriter* writer) {
  if (value.IsArray()) {
    writer->BeginArray();
    for (const Json element : value.Elements()) WriteOwn(element, writer);
    return writer->EndArray();
  }
  if (!value.IsObject()) return writer->Raw(ToText(value));
  writer->BeginObject();
  for (const auto& [name, member] : value.Members()) {
    writer->Key(name);
    if ((name == "root" || name == "item") && member.IsObject()) {
      WriteReference(member, writer);
    } else if (name == "attachments" && member.IsArray()) {
      WriteAttachments(member, writer);
    } else {
      WriteOwn(member, writer);
    }
  }
  writer->EndObject();
}

std::string CleanText(std::string text, const Json& event) {
  if (!MayHaveCopies(text)) return text;
  std::string clean;
  JsonWriter writer(&clean);
  WriteOwn(event, &writer);
  return clean;
}

}  // namespace

std::string WithoutCopies(const Json& event) { return CleanText(ToText(event), event); }

std::string AttachmentsWithoutCopies(const Json& message) {
  const MaybeJson attachments = message.Find("attachments");
  if (!attachments || !attachments->IsArray() || attachments->Size() == 0) return {};
  std::string clean;
  JsonWriter writer(&clean);
  WriteAttachments(*attachments, &writer);
  return clean;
}

std::string WithoutCopies(const std::string& raw_event) {
  if (!MayHaveCopies(raw_event)) return raw_event;
  const auto document = JsonDocument::Parse(raw_event);
  return document ? CleanText(raw_event, document->root()) : std::string();
}

}  // namespace tidemark::archive
