# How a folder becomes a target, and the flags that all of them share.
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)

# ccache stores what was compiled with a precompiled header only when it may ignore the header's
# macros and times. It still compares the content of every file that the header was made of.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Several sources are compiled as one: most of a source's time goes into headers, and headers are
# read once for all of them. docs/decisions/0022-two-compilers.md has the figures.
# Sources of different folders never are, so names in an anonymous namespace must differ only from
# those in the same folder.
set(unity_batch 12)

# tidemark_unity(<target>): compiles the target's sources in batches, folder by folder.
function(tidemark_unity target)
  if(NOT TIDEMARK_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR batch "${count_${folder}} / ${unity_batch}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

add_library(tidemark_flags INTERFACE)
target_include_directories(tidemark_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
# Boost and others are included as SYSTEM by their targets; what is ours has no warnings.
target_compile_options(tidemark_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
  -Wunused -Woverloaded-virtual -Wnull-dereference -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these in libstdc++ when it inlines at -O2; the last is about
  # anonymous namespaces in a file that is included, as the batches include all sources.
  target_compile_options(tidemark_flags INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-null-dereference
    -Wno-array-bounds -Wno-subobject-linkage)
  # It also reports a TRY in a lambda within a TRY. clang checks shadowing in the other presets.
  target_compile_options(tidemark_flags INTERFACE -Wno-shadow)
  # Designated initialisers leave defaulted members out on purpose.
  target_compile_options(tidemark_flags INTERFACE -Wno-missing-field-initializers)
else()
  target_compile_options(tidemark_flags INTERFACE
    -Wno-missing-field-initializers -Wno-gnu-statement-expression)
endif()
if(TIDEMARK_SANITIZE)
  target_compile_options(tidemark_flags INTERFACE
    -fsanitize=${TIDEMARK_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(tidemark_flags INTERFACE -fsanitize=${TIDEMARK_SANITIZE})
endif()
# Undefined behaviour ends the program by a trap, and AddressSanitizer prints the stack: code
# without the texts of the messages compiles in three quarters of the time. For the same reason
# some checks are left out: AddressSanitizer notices a null or foreign object as well, and x86
# reads at any alignment. The preset for fuzzing has all checks and the messages.
if(TIDEMARK_SANITIZE MATCHES "undefined" AND NOT TIDEMARK_COVERAGE)
  target_compile_options(tidemark_flags INTERFACE
    -fsanitize-trap=undefined -fno-sanitize=null,alignment,vptr)
endif()
# -fsemantic-interposition keeps a call to a function of the same library replaceable, so that a
# broken variant can take the function's place (tools/broken.py).
if(TIDEMARK_COVERAGE)
  list(APPEND library_options -fsanitize=fuzzer-no-link)
endif()
if(BUILD_SHARED_LIBS)
  list(APPEND library_options -fsemantic-interposition)
endif()
set(library_types "STATIC_LIBRARY$<SEMICOLON>SHARED_LIBRARY")
target_compile_options(tidemark_flags INTERFACE
  "$<$<IN_LIST:$<TARGET_PROPERTY:TYPE>,${library_types}>:${library_options}>")
# What one thread allocates another frees, all the time: with glibc's allocator the two wait for
# each other (docs/decisions/0021-jemalloc.md). Sanitizers have allocators of their own.
if(NOT TIDEMARK_SANITIZE)
  find_library(JEMALLOC jemalloc REQUIRED)
  target_link_libraries(tidemark_flags INTERFACE ${JEMALLOC})
endif()
find_program(LLD ld.lld)
if(LLD)
  target_link_options(tidemark_flags INTERFACE -fuse-ld=lld)
endif()
target_link_libraries(tidemark_flags INTERFACE Threads::Threads)

# The headers that most sources include, compiled once a preset: for tests, for libraries, and for
# libraries that are HOT. Only with clang: GCC compiles few tests, and ccache does not understand
# its precompiled headers. tools/headers.py finds a standard header that a source forgets.
function(tidemark_headers name)
  cmake_parse_arguments(ARG "" "" "OPTIONS;HEADERS;THIRD_PARTY" ${ARGN})
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(tidemark_${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(tidemark_${name} PRIVATE tidemark_flags fmt::fmt ${ARG_THIRD_PARTY})
  target_compile_options(tidemark_${name} PRIVATE -Xclang -fno-pch-timestamp ${ARG_OPTIONS})
  target_precompile_headers(tidemark_${name} PRIVATE
    <algorithm> <atomic> <chrono> <condition_variable> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <variant> <vector>
    <fmt/format.h> ${ARG_HEADERS})
endfunction()

# tidemark_reuse_headers(<target> <name>): the target is compiled with these headers.
function(tidemark_reuse_headers target name)
  if(TARGET tidemark_${name})
    target_precompile_headers(${target} REUSE_FROM tidemark_${name})
  endif()
endfunction()

# Tests have no debug lines: a failed expectation says where it stands, and a report of a sanitizer
# shows the lines of the libraries. `cmake -DTIDEMARK_TEST_OPTIONS=-g` is for a debugger.
set(TIDEMARK_TEST_OPTIONS -g0 CACHE STRING "Options of the compiler for test programs")
tidemark_headers(test_headers THIRD_PARTY GTest::gtest GTest::gmock
                 OPTIONS ${TIDEMARK_TEST_OPTIONS}
                 HEADERS <future> <random> <gmock/gmock.h> <gtest/gtest.h>)
tidemark_headers(library_headers OPTIONS ${library_options})
tidemark_headers(hot_library_headers OPTIONS ${library_options} -O1)
foreach(name IN ITEMS library_headers hot_library_headers)
  if(TARGET tidemark_${name} AND BUILD_SHARED_LIBS)
    set_target_properties(tidemark_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endforeach()

# What `./dev test` builds in each preset: a preset compiles only what it runs.
add_custom_target(tests_dev)
add_custom_target(tests_tsan)
add_custom_target(tests_release)
add_custom_target(fuzzers)
add_custom_target(benches)

# tidemark_folder(<target word> [DEPENDS <words>...] [SUBFOLDERS <names>...]
#                 [THIRD_PARTY <targets>...] [TEST_LABELS <labels>...] [HOT])
# Sources in SUBFOLDERS belong to the same target.
# TEST_LABELS are the LABELS of the folder's own test program, as in tidemark_test. HOT is for a
# folder in which tests and fuzzers spend much time: it is compiled with -O1 in the debug presets.
# The other folders are not, because -O1 takes three times as long to compile.
function(tidemark_folder word)
  cmake_parse_arguments(
    ARG "HOT" "" "DEPENDS;SUBFOLDERS;THIRD_PARTY;TEST_LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  foreach(subfolder IN LISTS ARG_SUBFOLDERS)
    file(GLOB more CONFIGURE_DEPENDS ${subfolder}/*.cc)
    list(APPEND sources ${more})
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_DEPENDS PREPEND tidemark_)
  if(sources)
    add_library(tidemark_${word} ${sources})
    target_link_libraries(tidemark_${word}
      PUBLIC tidemark_flags fmt::fmt ${ARG_DEPENDS} PRIVATE ${ARG_THIRD_PARTY})
    if(ARG_HOT AND CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_compile_options(tidemark_${word} PRIVATE -O1)
      tidemark_reuse_headers(tidemark_${word} hot_library_headers)
    else()
      tidemark_reuse_headers(tidemark_${word} library_headers)
    endif()
    tidemark_unity(tidemark_${word})
  else()
    add_library(tidemark_${word} INTERFACE)
    target_link_libraries(tidemark_${word} INTERFACE tidemark_flags fmt::fmt ${ARG_DEPENDS})
  endif()
  if(tests)
    tidemark_test(${word}_test SOURCES ${tests} DEPENDS tidemark_${word}
                  LABELS ${ARG_TEST_LABELS})
  endif()
endfunction()

# tidemark_test_library(<name> SOURCES <files>... [DEPENDS <targets>...]): the library
# `tidemark_<name>`, which several test programs share.
function(tidemark_test_library word)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  set(target tidemark_${word})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC tidemark_flags fmt::fmt ${ARG_DEPENDS})
  if(BUILD_SHARED_LIBS)
    # As the libraries whose precompiled headers it uses.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  tidemark_reuse_headers(${target} library_headers)
  tidemark_unity(${target})
endfunction()

# tidemark_test(<name> SOURCES <files>... [DEPENDS <targets>...] [LABELS <labels>...]
#               [TIMEOUT <seconds>] [FIRST])
# A GoogleTest program that `./dev test` runs. Without labels it runs in the dev preset.
#   tsan     runs in the tsan preset as well
#   release  is long: runs in the release preset, and in dev only when `dev` is named too
# TIMEOUT is for a program that needs another limit than the one `./dev test` gives to all.
# FIRST is for one of the slowest programs: it starts before the others, so that no core waits for
# it at the end.
function(tidemark_test name)
  cmake_parse_arguments(ARG "FIRST" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  set(labels ${ARG_LABELS})
  if(NOT "release" IN_LIST labels)
    list(APPEND labels dev)
  endif()
  list(REMOVE_DUPLICATES labels)
  add_executable(${name} ${ARG_SOURCES})
  tidemark_unity(${name})
  target_compile_options(${name} PRIVATE ${TIDEMARK_TEST_OPTIONS})
  target_link_libraries(${name} PRIVATE tidemark_flags ${ARG_DEPENDS}
    GTest::gtest GTest::gmock GTest::gtest_main)
  tidemark_reuse_headers(${name} test_headers)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
  if(ARG_FIRST)
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
  foreach(label IN LISTS labels)
    if(NOT TARGET tests_${label})
      message(FATAL_ERROR "tidemark_test(${name}): label '${label}' is none of dev, tsan, release")
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()

# tidemark_fuzz(<name> [SOURCES <files>...] [DEPENDS <targets>...]): the libFuzzer program
# `fuzz_<name>` made of <name>.cc unless SOURCES says otherwise; its corpus is fuzz/corpus/<name>/.
# Only the dev preset builds it.
function(tidemark_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT TIDEMARK_FUZZ)
    return()
  endif()
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${name}.cc)
  endif()
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE tidemark_flags ${ARG_DEPENDS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})
endfunction()

# tidemark_bench(<name> [SOURCES <files>...] [DEPENDS <targets>...]): the program `bench_<name>`
# that `./dev bench <name>` runs, made of <name>.cc unless SOURCES says otherwise.
function(tidemark_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${name}.cc)
  endif()
  add_executable(bench_${name} ${ARG_SOURCES})
  target_link_libraries(bench_${name} PRIVATE tidemark_flags ${ARG_DEPENDS})
  add_dependencies(benches bench_${name})
endfunction()
