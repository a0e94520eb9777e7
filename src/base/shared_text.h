// A text that several owners share and none can change, such as a large document that many readers
// get at the same time.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace tidemark {

using SharedText = std::shared_ptr<const std::string>;

inline SharedText ShareText(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace tidemark
