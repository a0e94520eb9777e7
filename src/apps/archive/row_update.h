// An update of an existing row that sets only the attributes that differ. Attributes that others
// write into the same row (the file processor's) stay as they are.
#pragma once

#include <cstdint>
#include <string>

#include "item/value.h"
#include "tables/requests.h"

namespace tidemark::archive {

// Whether an attribute of `next` is missing or different in the row, or one has to be removed.
bool Differs(const item::Item& row, const item::Item& next);

// Turns `row` into `next` and raises its revision by one. The condition is that the stored row
// still has the revision of `row`: of two writers who read the same revision, one is refused.
tables::UpdateRequest UpdateRow(const std::string& table, const item::Item& row,
                                const item::Item& next);

}  // namespace tidemark::archive
