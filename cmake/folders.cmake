# How a folder becomes a target, and the flags that all of them share.
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)

find_program(CCACHE ccache)
if(CCACHE AND TIDEMARK_PRECOMPILE)
  # What ccache demands before it caches a source with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
elseif(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(tidemark_flags INTERFACE)
target_include_directories(tidemark_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
# Boost and others are included as SYSTEM by their targets; what is ours has no warnings.
target_compile_options(tidemark_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
  -Wunused -Woverloaded-virtual -Wnull-dereference -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these in libstdc++ when it inlines at -O2.
  target_compile_options(tidemark_flags INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-null-dereference
    -Wno-array-bounds)
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
# What the libraries are compiled with beyond that. With sanitizers they are optimised a little,
# since tests and fuzzers spend their time in them; the tests are not, which take longer to compile
# than to run. Coverage is for the fuzzers.
set(library_options "")
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND library_options -O1)
endif()
if(TIDEMARK_FUZZ)
  list(APPEND library_options -fsanitize=fuzzer-no-link)
endif()
target_compile_options(tidemark_flags INTERFACE
  "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>:${library_options}>")
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

# Headers of others that most sources include, compiled once for the libraries and once for the
# tests. Never in the release preset, which finds what a source forgets to include.
if(TIDEMARK_PRECOMPILE)
  set(common_headers
    <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <deque> <filesystem>
    <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string>
    <string_view> <thread> <utility> <variant> <vector> <fmt/format.h>)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
  add_library(tidemark_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(tidemark_precompiled PRIVATE tidemark_flags fmt::fmt)
  target_compile_options(tidemark_precompiled PRIVATE ${library_options})
  target_precompile_headers(tidemark_precompiled PRIVATE ${common_headers})
  add_library(tidemark_precompiled_tests OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(tidemark_precompiled_tests
    PRIVATE tidemark_flags fmt::fmt GTest::gtest GTest::gmock)
  target_precompile_headers(tidemark_precompiled_tests
    PRIVATE ${common_headers} <gtest/gtest.h> <gmock/gmock.h>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler may use memory rather than spend its time on tidying up.
    target_compile_options(tidemark_flags INTERFACE
      -fpch-preprocess --param=ggc-min-heapsize=600000)
  else()
    target_compile_options(tidemark_flags INTERFACE
      "SHELL:-Xclang -fno-pch-timestamp" -fpch-instantiate-templates
      -Wno-unused-command-line-argument)
  endif()
endif()

# tidemark_precompile(<target> <precompiled library>)
function(tidemark_precompile target library)
  if(TIDEMARK_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${library})
  endif()
endfunction()

# What `./dev test` builds in each preset: a preset compiles only what it runs.
add_custom_target(tests_dev)
add_custom_target(tests_tsan)
add_custom_target(tests_release)
add_custom_target(fuzzers)
add_custom_target(benches)

# tidemark_folder(<target word> [DEPENDS <words>...] [THIRD_PARTY <targets>...]
#                 [TEST_LABELS <labels>...])
# TEST_LABELS are the LABELS of the folder's own test program, as in tidemark_test.
function(tidemark_folder word)
  cmake_parse_arguments(ARG "" "" "DEPENDS;THIRD_PARTY;TEST_LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_DEPENDS PREPEND tidemark_)
  if(sources)
    add_library(tidemark_${word} STATIC ${sources})
    target_link_libraries(tidemark_${word}
      PUBLIC tidemark_flags fmt::fmt ${ARG_DEPENDS} PRIVATE ${ARG_THIRD_PARTY})
    tidemark_precompile(tidemark_${word} tidemark_precompiled)
  else()
    add_library(tidemark_${word} INTERFACE)
    target_link_libraries(tidemark_${word} INTERFACE tidemark_flags fmt::fmt ${ARG_DEPENDS})
  endif()
  if(tests)
    tidemark_test(${word}_test SOURCES ${tests} DEPENDS tidemark_${word}
                  LABELS ${ARG_TEST_LABELS})
  endif()
endfunction()

# tidemark_test(<name> SOURCES <files>... [DEPENDS <targets>...] [LABELS <labels>...] [SERIAL]
#               [TIMEOUT <seconds>])
# A GoogleTest program that `./dev test` runs. Without labels it runs in the dev preset.
#   tsan     runs in the tsan preset as well
#   release  is long: runs in the release preset, and in dev only when `dev` is named too
# SERIAL runs it with no other test program beside it. TIMEOUT is for a program that needs another
# limit than the one `./dev test` gives to all.
function(tidemark_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  set(labels ${ARG_LABELS})
  if(NOT "release" IN_LIST labels)
    list(APPEND labels dev)
  endif()
  list(REMOVE_DUPLICATES labels)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tidemark_flags ${ARG_DEPENDS}
    GTest::gtest GTest::gmock GTest::gtest_main)
  tidemark_precompile(${name} tidemark_precompiled_tests)
  if(TIDEMARK_SANITIZE MATCHES "undefined")
    # A sixth of the time to compile a test, for what AddressSanitizer notices as well. Libraries
    # keep them.
    target_compile_options(${name} PRIVATE -fno-sanitize=null,alignment,vptr)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" RUN_SERIAL ${ARG_SERIAL})
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
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
  tidemark_precompile(fuzz_${name} tidemark_precompiled_tests)
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
