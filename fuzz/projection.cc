// Projections: one that parses keeps only parts of the attributes that its paths begin with. The
// order of the paths does not matter.
#include "expression/projection.h"

#include <algorithm>
#include <vector>

#include "fuzz/expressions.h"
#include "item/size.h"

using namespace tidemark;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  expression::Bindings bindings = fuzz::SomeBindings();
  const auto parsed = expression::ParseProjection(fuzz::TextOf(data, size), &bindings);
  if (!parsed) return 0;
  const std::vector<expression::Path> backwards(parsed->rbegin(), parsed->rend());
  for (const item::Item& item : fuzz::SomeItems()) {
    const item::Item part = expression::Project(item, *parsed);
    CHECK(part == expression::Project(item, backwards));
    CHECK(item::SizeBytes(part) <= item::SizeBytes(item));
    fuzz::CheckStorable(part);
    for (const item::Attribute& attribute : part) {
      CHECK(std::any_of(parsed->begin(), parsed->end(), [&](const expression::Path& path) {
        return path.attribute() == attribute.name;
      }));
    }
  }
  return 0;
}
