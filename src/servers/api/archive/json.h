// Writes what the archive returns as JSON; docs/openapi.yaml has the fields. Pure functions.
#pragma once

#include <string>

#include "apps/archive/channel.h"
#include "apps/archive/coverage.h"
#include "apps/archive/message.h"
#include "apps/archive/processors.h"
#include "apps/archive/reader.h"
#include "base/json.h"

namespace tidemark::api {

// "/archives/{channel}/p{ts}", as Slack writes it.
std::string PermalinkOf(const archive::Place& place, const slack::Timestamp& ts);

void Write(const archive::Channel& channel, JsonWriter* writer);
// `hidden`: the policy has removed its text.
void Write(const archive::Message& message, const archive::Replies& replies, bool hidden,
           JsonWriter* writer);
// `names`: of the people that it names.
void Write(const archive::MessageDetail& detail, const archive::People::Names& names, bool hidden,
           JsonWriter* writer);
// Writes the member "people": names by id. Leaves it out when there are none.
void WriteNames(const archive::People::Names& names, JsonWriter* writer);
void Write(const archive::Person& person, JsonWriter* writer);
void Write(const archive::Interval& interval, JsonWriter* writer);
void Write(const archive::CoverageNews& mark, JsonWriter* writer);
void Write(std::string_view name, const archive::ProcessorStatus& status, JsonWriter* writer);

}  // namespace tidemark::api
