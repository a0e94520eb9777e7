#include "servers/demo/events.h"

#include <utility>

#include "servers/demo/script.h"

namespace tidemark::demo {

EventGenerator::EventGenerator(EventOptions options, Workspace workspace)
    : script_(std::make_unique<Script>(std::move(options), std::move(workspace))) {}
EventGenerator::~EventGenerator() = default;
EventGenerator::EventGenerator(EventGenerator&&) noexcept = default;
EventGenerator& EventGenerator::operator=(EventGenerator&&) noexcept = default;

GeneratedEvent EventGenerator::Next() { return script_->Next(); }

}  // namespace tidemark::demo
