#include "base/turn.h"

#include <algorithm>

namespace tidemark {

namespace {

thread_local Turn* current = nullptr;

}  // namespace

Turn::Turn() : is_outermost_(current == nullptr) {
  if (is_outermost_) current = this;
}

Turn::~Turn() {
  if (!is_outermost_) return;
  // First, so that AtEnd inside of these calls runs its work at once: no later turn may come.
  current = nullptr;
  for (const auto& [owner, work] : at_end_) work();
}

void Turn::AtEnd(const void* owner, std::function<void()> work) {
  if (current == nullptr) return work();
  auto& at_end = current->at_end_;
  const bool is_known =
      std::ranges::any_of(at_end, [&](const auto& one) { return one.first == owner; });
  if (!is_known) at_end.emplace_back(owner, std::move(work));
}

}  // namespace tidemark
