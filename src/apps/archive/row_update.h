// A change of a row that is there, as an update of the attributes that differ. What others write
// into the same row (the file processor's attributes) is not touched.
#pragma once

#include <cstdint>
#include <string>

#include "item/value.h"
#include "tables/requests.h"

namespace tidemark::archive {

// Whether the row lacks something of `next`, or has what it should no longer have.
bool Differs(const item::Item& row, const item::Item& next);

// Makes the row what `next` says and counts its revision, provided that it still has the revision
// that it was read with.
tables::UpdateRequest UpdateRow(const std::string& table, const item::Item& row,
                                const item::Item& next);

}  // namespace tidemark::archive
