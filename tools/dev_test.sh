# The subcommand `test` of ./dev. ./dev includes this file, which uses its functions and variables.
# shellcheck shell=bash disable=SC2154  # The variables are set in ./dev.

help_test() {
  cat <<'TEXT'
Usage: ./dev test [--quick] [--long] [--filter PATTERN]

Installs missing packages, builds, and runs all tests:
  checks   layers, style, formatting, self-contained headers (a twelfth of them, which
           the commit chooses; all with --long), and self-tests of the tools
  dev      all unit and contract tests, with AddressSanitizer and
           UndefinedBehaviorSanitizer
  tsan     the tests with threads, with ThreadSanitizer
  release  long tests: model, linearizability, crashes; the commands of the README; the demo
  broken   removes one protection at a time; a test must fail for each. Runs as many variants
           as fit in five minutes, in an order that depends on the commit; all with --long
  fuzz     runs every fuzz target over its corpus; with --long, 5 s more for each
It continues after a failure and prints the time of each stage. The last line is
"N passed, N failed". The exit code is 0 if nothing failed. ./dev spec reads the results
in build/results.

  --quick           only the checks and the dev tests
  --filter PATTERN  only test cases whose Suite.Name matches (as --gtest_filter)
  --long            also the long variants of tests (sets TIDEMARK_LONG=1)

Example:
  ./dev test
  ./dev test --quick --filter 'NumberTest.*'
TEXT
}

passed=0
failed=0
failures=()

count_pass() { passed=$((passed + 1)); }
count_failure() {
  failed=$((failed + 1))
  failures+=("$1")
}

# check NAME COMMAND...: one check, quiet unless it fails or says what it skipped.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    count_pass
    say "passed  $name"
    grep '^skipped' <<<"$output" || true
  else
    count_failure "$name"
    say "FAILED  $name"
    say "$output"
  fi
}

# What chooses the part of the work that a run does, where all of it would take too long.
commit() { git rev-parse --short HEAD 2>/dev/null || date +%F; }

run_checks() {
  local tool rotation=(--rotate "$(commit)")
  [[ -z ${TIDEMARK_LONG:-} ]] || rotation=()
  step 'checks'
  for tool in layers tidy headers spec results readme broken alarms; do
    check "$tool can fail" python3 "tools/$tool.py" --self-test
  done
  check 'includes follow the layers' python3 tools/layers.py
  check 'style' python3 tools/tidy.py
  check 'headers compile alone' python3 tools/headers.py --jobs "$cores" "${rotation[@]}"
  check 'formatting' run_fmt --check
  check 'spec statements' python3 tools/spec.py --check
  check 'alarms' python3 tools/alarms.py
  check 'broken variants still apply' python3 tools/broken.py --check
}

# Without address randomisation, which ThreadSanitizer's fixed map of memory cannot always stand.
steady_addresses() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    setarch "$(uname -m)" -R "$@"
  else
    "$@"
  fi
}

# Debian's RocksDB is not built with ThreadSanitizer: what it copies and frees between its own
# threads would look like races, so accesses from such libraries are not followed. Their locks are,
# and so is all that our code does.
#
# ThreadSanitizer runs only tests in which threads can meet, because it makes them five times as
# slow. It leaves out
#   tests that run their actors one at a time in orders that the test chooses, or have one thread;
#   tests of the server that send one request at a time: their threads do nothing that those of
#   SlackEventsTest, CrowdTest, WorkTest, SlowWorkTest and their like do not do. --long runs them.
one_actor_at_a_time='*OrdersTest.*:*OrdersOfTwoTest.*:*RandomRunsTest.*:*DocumentRunsTest.*'
one_actor_at_a_time+=':LogsTest.*:LogTailTest.*:VerifyTest.*:RowKeyTest.*:SourceTest.*'
one_request_at_a_time='ApiTest.*:ArchiveApiTest.*:AttemptsApiTest.*:DocumentsApiTest.*'
one_request_at_a_time+=':TablesApiTest.*:SettingsTest.*:ArchiveTest.*:UntypedEventsTest.*'
one_request_at_a_time+=':ChangedIdTest.*:BadRequestsApiTest.*:LargePagesTest.*'
tsan_filter() {
  local left_out="$one_actor_at_a_time:$one_request_at_a_time"
  [[ -z ${TIDEMARK_LONG:-} ]] || left_out=$one_actor_at_a_time
  printf -- '-%s' "$left_out"
}

# begin_beside COMMAND...: begins work of a later stage beside the tests of this one. It takes the
# time in which they wait for disks and timers.
beside=''
begin_beside() {
  "$@" >"build/$1.log" 2>&1 &
  beside=$!
}
wait_for_work_beside() {
  [[ -z $beside ]] || wait "$beside" || true
  beside=''
}

# Work to begin beside tests. The builds have the lowest priority. What fails in them is built
# again, and shown, by the stage that needs it.
build_tsan_ahead() {
  renice -n 19 "$BASHPID" >/dev/null
  compile tsan tests_tsan
}
build_release_ahead() {
  renice -n 19 "$BASHPID" >/dev/null
  compile release tests_release tidemark
}
try_variants() {
  local chosen=()
  [[ -n ${TIDEMARK_LONG:-} ]] || chosen=(--seconds "$variants_seconds" --rotate "$(commit)")
  compile dev "${rejecting[@]}"
  python3 tools/broken.py --build build/dev --jobs "$cores" "${chosen[@]}"
}
try_variants_and_build_release_ahead() {
  build_release_ahead &
  try_variants >build/try_variants.log 2>&1 || true
  wait
}

# run_programs PRESET FILTER [WORK]: builds and runs the preset's test programs, and counts their
# cases. WORK begins beside them. Programs wait for disks, processes and timers, so that more of
# them run than there are cores.
run_programs() {
  local preset=$1 filter=$2 limit=1200 verdict name
  # Results of the long variants do not count for ./dev spec, which proves without a flag.
  local results="build/results/$1${2:+-filtered}${TIDEMARK_LONG:+-long}"
  shift 2
  step "$preset: build"
  wait_for_work_beside
  if ! compile "$preset" "tests_$preset"; then
    count_failure "build of $preset"
  fi
  (($# == 0)) || begin_beside "$@"
  rm -rf "$results"
  mkdir -p "$results"
  [[ -z ${TIDEMARK_LONG:-} ]] || limit=20000
  [[ $preset != tsan || -n $filter ]] || filter=$(tsan_filter)
  step "$preset: run"
  GTEST_OUTPUT="xml:$PWD/$results/" GTEST_FILTER="${filter:-*}" GTEST_BRIEF=1 \
    ASAN_OPTIONS='detect_stack_use_after_return=1:handle_sigill=1' \
    TSAN_OPTIONS='ignore_noninstrumented_modules=1' \
    steady_addresses ctest --test-dir "build/$preset" -L "^$preset\$" -j "$((cores * 2))" \
    --timeout "$limit" --no-label-summary --output-on-failure \
    --output-junit "$PWD/$results/programs.xml" || true
  [[ -e $results/programs.xml ]] || count_failure "$preset: ctest ran nothing"
  while read -r verdict name; do
    case $verdict in
      passed) passed=$((passed + name)) ;;
      failed) count_failure "$preset: $name" ;;
      *) say "$verdict $name" ;;
    esac
  done < <(python3 tools/results.py "$results")
}

# What a newcomer types: the README's commands and the demo.
test_program() {
  step 'release: the program'
  if ! compile release tidemark; then
    count_failure 'build of the program'
    return
  fi
  check 'README works word by word' python3 tools/readme.py build/release
  check 'demo' tools/demo.sh build/release/tidemark build/tried-demo --try
}

# What try_variants found, which removes protections one at a time (tools/broken.py). Each variant
# that a test rejects counts as passed.
count_variants() {
  local line verdict name ended=''
  step 'dev: broken variants, which began beside the tests of tsan'
  wait_for_work_beside
  while IFS= read -r line; do
    say "$line"
    read -r verdict name <<<"$line"
    case $verdict in
      rejected) count_pass ;;
      SURVIVED | FAULTY) count_failure "broken variant ${name%%:*}" ;;
      [0-9]*) ended=1 ;;
    esac
  done <build/try_variants.log
  [[ -n $ended ]] || count_failure 'tools/broken.py did not reach its end'
}

go_packages=(golang-go golang-github-aws-aws-sdk-go-v2-dev golang-github-aws-aws-sdk-go-dev)

# Builds the programs of tests/clients/go into build/go-clients. The AWS SDKs for Go come from
# Debian and take 950 MB. They are not needed for anything else, so a machine that does not have
# them, or cannot install them, goes on without these tests.
setup_go() {
  local version missing
  step 'Go: programs with the AWS SDKs for the tests'
  rm -rf build/go-clients
  mkdir -p build/go-clients
  missing=$(packages=("${go_packages[@]}") && missing_packages)
  [[ -z $missing ]] || (packages=("${go_packages[@]}") && setup) || true
  for version in v1 v2; do
    GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$PWD/build/go-cache \
      go build -p "$cores" -o "build/go-clients/$version" "tests/clients/go/$version/main.go" ||
      say "skipped: the tests with the AWS SDK for Go $version. They need: ${go_packages[*]}"
  done
}

run_test() {
  local quick='' filter='' rejecting=()
  while (($#)); do
    case $1 in
      --quick) quick=1 ;;
      --long) export TIDEMARK_LONG=1 ;;
      --filter)
        filter=$(value_of --filter "$@")
        shift
        ;;
      *) unknown "$1" ;;
    esac
    shift
  done
  command -v npm >/dev/null || packages+=(npm)
  setup
  setup_node
  setup_go
  [[ -n $filter ]] || run_checks
  mapfile -t rejecting < <(python3 tools/broken.py --programs)
  if [[ -n $quick ]]; then
    run_programs dev "$filter"
  elif [[ -n $filter ]]; then
    run_programs dev "$filter" build_tsan_ahead
    run_programs tsan "$filter" build_release_ahead
    run_programs release "$filter"
  else
    run_programs dev '' build_tsan_ahead
    run_programs tsan '' try_variants_and_build_release_ahead
    count_variants
    run_programs release ''
    test_program
    test_fuzzers
  fi
  finish_test "$filter"
}

finish_test() {
  print_stages
  if ((${#failures[@]})); then
    step 'failed'
    printf '%s\n' "${failures[@]}"
  fi
  say
  if ((passed + failed == 0)); then
    say "No test matches '$1'."
  fi
  say "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}
