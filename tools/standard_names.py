"""Which standard header declares which name: checks that a C++ file includes what it uses, by text.

tools/headers.py uses this. A compiler does not notice a missing #include <string> when another
header, or another source of the same batch, has included it. So this looks for names such as
std::string in the text of a file, and for the header that declares each of them.

The table has the names that this project uses. A name that is not in it is not checked.
"""

import re

# The first header is the one to include; any other that the standard allows follows it.
DECLARES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy_if copy_n count count_if "
                 "equal fill find find_if lower_bound max_element min_element minmax "
                 "minmax_element none_of partition_point replace replace_if set_difference "
                 "set_union sort stable_sort transform unique upper_bound is_sorted",
    "array": "array to_array",
    "atomic": "atomic atomic_flag memory_order_relaxed memory_order_acquire memory_order_release",
    "barrier": "barrier",
    "bit": "bit_cast bit_width popcount countl_zero countr_zero",
    "cctype": "tolower toupper isalnum isdigit",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "isfinite signbit ceil floor pow sqrt expm1 log1p round log",
    "compare": "strong_ordering partial_ordering three_way_comparable",
    "condition_variable": "condition_variable condition_variable_any",
    "csignal": "signal raise",
    "cstdio": "FILE fflush fprintf printf fputs fputc fwrite fgets sscanf snprintf",
    "cstdlib": "getenv exit abort atoi strtod strtoll strtoul strtoull system",
    "cstring": "memcpy memmove memcmp memset strlen strerror strstr strchr strcmp",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream fstream",
    "functional": "function hash bind_front reference_wrapper",
    "future": "async future promise shared_future launch future_status packaged_task",
    "iostream": "cout cin cerr",
    "iterator": "back_inserter inserter istreambuf_iterator make_move_iterator",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this "
              "static_pointer_cast make_unique_for_overwrite",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "numeric": "accumulate iota",
    "optional": "optional nullopt",
    "random": "mt19937_64 random_device uniform_int_distribution",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "set multiset",
    "shared_mutex": "shared_mutex shared_lock",
    "span": "span",
    "sstream": "ostringstream istringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
    "stop_token": "stop_token stop_source stop_callback",
    "string": "string to_string stoi stol stoll stoul stoull stod getline",
    "string_view": "string_view",
    "system_error": "error_code errc generic_category system_error system_category",
    "thread": "thread jthread this_thread",
    "tuple": "tuple tie make_tuple apply",
    "type_traits": "is_same_v is_convertible_v is_constructible_v is_void_v remove_cvref_t "
                   "invoke_result_t conditional_t decay_t enable_if_t",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set unordered_multiset",
    "utility": "move forward exchange pair swap in_place_index declval",
    "variant": "variant get_if holds_alternative visit monostate",
    "vector": "vector",
}
# The standard says that these headers also declare the names of the others.
ALSO_DECLARED_BY = {
    "string_view": ["string"],
    "compare": ["string", "vector", "map", "utility", "optional"],
    "system_error": ["filesystem", "charconv"],
    "stop_token": ["thread", "condition_variable"],
    "utility": ["map", "tuple"],
    "iostream": [],
}
HEADER_OF = {name: header for header, names in DECLARES.items() for name in names.split()}
USED = re.compile(r"\bstd::(?:ranges::)?(\w+)")
FIXED_WIDTH = re.compile(r"(?<![\w:])u?int(?:8|16|32|64)_t\b")
# Names of other namespaces, and how the includes that declare them begin.
OTHERS = [
    (FIXED_WIDTH, "cstdint", ("cstdint", "stdint.h")),
    (re.compile(r"\bfmt::\w"), "fmt/format.h", ("fmt/",)),
    (re.compile(r"\bTEST(?:_F|_P)?\(|\b(?:EXPECT|ASSERT)_\w+\(|(?<!\w)::testing::\w"),
     "gtest/gtest.h", ("gtest/", "gmock/")),
]
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
NOISE = re.compile(r'//[^\n]*|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"', re.S)


def included_in(text):
    """The headers that the text includes, as they are written."""
    return INCLUDE.findall(text)


def missing(text, included):
    """{header: a name that needs it} for each standard header that is used and not included."""
    code = NOISE.sub('""', INCLUDE.sub("", text))
    included = set(included)
    found = {}
    for name in sorted(set(USED.findall(code))):
        header = HEADER_OF.get(name)
        if header and included.isdisjoint([header, *ALSO_DECLARED_BY.get(header, [])]):
            found.setdefault(header, f"std::{name}")
    for pattern, header, beginnings in OTHERS:
        used = pattern.search(code)
        if used and not any(one.startswith(beginnings) for one in included):
            found.setdefault(header, used.group(0))
    return found
