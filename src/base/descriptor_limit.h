// How many files and sockets this process may have open at once.
#pragma once

#include <cstddef>

namespace tidemark {

// Raises the limit as far as the system allows, and returns it. Systems set a low limit by default
// (1,024) and allow far more.
size_t RaiseDescriptorLimit();

// How many of `wanted` connections a server accepts under this limit. The rest is for the files of
// the stores and for requests to others: a store that cannot open a file refuses all writes.
size_t ConnectionsWithin(size_t limit, size_t wanted);

}  // namespace tidemark
