// Updates: an update that applies makes a valid item that can be stored. It does not change
// attributes that its paths do not name. It creates an item that does not exist only if Creates()
// is true.
#include "expression/update.h"

#include <set>
#include <string>

#include "fuzz/expressions.h"
#include "item/validate.h"

using namespace tidemark;  // NOLINT: a program of one function

namespace {

item::Item Without(item::Item item, const std::set<std::string>& names) {
  for (const std::string& name : names) item.Erase(name);
  return item;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  expression::Bindings bindings = fuzz::SomeBindings();
  const auto parsed = expression::ParseUpdate(fuzz::TextOf(data, size), &bindings);
  if (!parsed) return 0;
  std::set<std::string> written;
  for (const expression::Path& path : parsed->Paths()) written.insert(path.attribute());
  for (const item::Item& item : fuzz::SomeItems()) {
    const Result<item::Item> after = parsed->Apply(item);
    if (!after) continue;
    CHECK(item::ValidateItem(*after).has_value());
    fuzz::CheckStorable(*after);
    CHECK(Without(*after, written) == Without(item, written));
    CHECK(parsed->Creates() || !item.empty() || after->empty());
  }
  return 0;
}
