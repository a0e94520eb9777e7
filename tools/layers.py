"""Checks that every include follows the order of the folders.

Usage: tools/layers.py [--self-test]

A folder may include itself and the folders that its row in LAYERS names. Its subfolders belong to
it unless they have a row of their own. THIRD_PARTY says which folders may include which library.
A row for a folder that does not exist is a finding too. Example of a finding:

  src/item/value.cc:3: src/item may not include "tables/tables.h"; it may include: base
"""

import pathlib
import re
import sys
import tempfile

import files

# folder: the folders it may include besides itself.
LAYERS = {
    "base": [],
    "item": ["base"],
    "http": ["base"],
    "aws": ["base", "http"],
    "expression": ["base", "item"],
    "tables": ["base", "item"],
    "objects": ["base"],
    "redis": ["base"],
    "slack": ["base", "http"],
    "tables/embedded": ["base", "item", "expression", "tables"],
    "partiql": ["base", "item", "tables"],
    "wire": ["base", "item", "tables", "partiql"],
    "tables/remote": ["base", "item", "tables", "wire"],
    "objects/directory": ["base", "objects"],
}
APPS = ["gate", "dedup", "archive", "documents", "attempts"]
SERVERS = ["api", "demo", "dynamodb"]
LAYERS.update({f"apps/{app}": ["base", "item", "tables", "objects", "slack"] for app in APPS})
# Parts of the app attempts: the move from an old store, and the old store in a Redis.
LAYERS["apps/attempts/moving"] = ["base", "item", "tables", "apps/attempts"]
LAYERS["apps/attempts/moving/redis"] = ["base", "item", "redis", "apps/attempts",
                                        "apps/attempts/moving"]
BELOW_SERVERS = list(LAYERS)
LAYERS.update({f"servers/{server}": BELOW_SERVERS for server in SERVERS})
LAYERS["programs"] = list(LAYERS)

# Beginning of a library's header: the folders of src/ that may include it, in .cc files only.
THIRD_PARTY = {
    "rocksdb/": ["tables/embedded"],
    "xxhash.h": ["base", "tables/embedded"],
    "xxh_x86dispatch.h": ["base"],
    "simdjson.h": ["base"],
    "zip.h": ["base"],
    "zlib.h": ["base"],
    "spdlog/": ["base"],
    "prometheus/": ["base"],
    "toml++/": ["base"],
    "openssl/": ["base", "http", "redis"],
    "CLI/": ["base", "programs"],
    "boost/": ["http"],
    "curl/": ["http"],
    "hiredis/": ["redis"],
    "fmt/": list(LAYERS),
}
# Headers that our own headers may include too. fmt is small and used everywhere. RocksDB's headers
# are for the inner headers of tables/embedded; no chain of includes may carry them outside.
IN_HEADERS = {"fmt/": list(LAYERS), "rocksdb/": ["tables/embedded"]}
NEVER_REACHED_FROM_OUTSIDE = "rocksdb/"
TEST_LIBRARIES = ("gtest/", "gmock/")

# These folders may include everything in src/ and every library.
OUTSIDE = ("tests", "bench", "fuzz")

POSIX = re.compile(
    r"(sys/|netinet/|arpa/|linux/)"
    r"|(dirent|errno|fcntl|limits|malloc|netdb|poll|pthread|sched|signal|spawn|stdlib|string|time"
    r"|unistd)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(name, folders):
    """The innermost of the folders that contains the path, or None."""
    parts = name.split("/")[:-1]
    while parts:
        if "/".join(parts) in folders:
            return "/".join(parts)
        parts.pop()
    return None


def includes_of(path):
    """(line number, bracket, name) of each include of a file."""
    for number, line in enumerate((files.read(path) or "").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def is_third_party(name):
    """True unless it is a header of the system or of the standard library, which has no suffix."""
    return not POSIX.match(name) and ("/" in name or "." in name)


def third_party_fault(name, folder, is_header, is_test):
    """Why a file of the folder may not include this library's header, or None."""
    if is_test and name.startswith(TEST_LIBRARIES):
        return None
    prefix = next((known for known in THIRD_PARTY if name.startswith(known)), None)
    if prefix is None:
        return f"tools/layers.py names no library for <{name}>"
    if folder not in THIRD_PARTY[prefix] and not (is_test and prefix == "rocksdb/"):
        return f"src/{folder} may not include <{name}>; only {', '.join(THIRD_PARTY[prefix])} may"
    if is_header and folder not in IN_HEADERS.get(prefix, []):
        return f"include <{name}> in .cc files only: our headers do not include libraries"
    return None


def ours_fault(name, folder, is_test):
    """Why a file of the folder may not include this header of ours, or None."""
    if is_test and name.startswith("tests/"):
        return None
    target = folder_of(name, LAYERS)
    if target is None:
        return f'tools/layers.py has no row for the folder of "{name}"'
    if target != folder and target not in LAYERS[folder]:
        allowed = ", ".join(LAYERS[folder]) or "nothing else"
        return f'src/{folder} may not include "{name}"; it may include: {allowed}'
    return None


def reaches(name, root, seen):
    """Whether one of our headers includes RocksDB, directly or through other headers of ours."""
    path = root / "src" / name
    if name in seen or not path.is_file():
        return False
    seen.add(name)
    return any(
        inner.startswith(NEVER_REACHED_FROM_OUTSIDE) or reaches(inner, root, seen)
        for _, _, inner in includes_of(path))


def faults_of(path, root):
    """The findings in one file of src/."""
    name = str(path.relative_to("src"))
    folder = folder_of(name, LAYERS)
    if folder is None:
        yield f"{path}:1: tools/layers.py has no row for this folder"
        return
    is_test = name.endswith("_test.cc")
    for number, bracket, included in includes_of(root / path):
        if bracket == "<" or included.startswith(TEST_LIBRARIES + tuple(THIRD_PARTY)):
            fault = None
            if is_third_party(included):
                fault = third_party_fault(included, folder, path.suffix == ".h", is_test)
        else:
            fault = ours_fault(included, folder, is_test)
            owner = THIRD_PARTY[NEVER_REACHED_FROM_OUTSIDE]
            if fault is None and folder not in owner and reaches(included, root, set()):
                fault = f'"{included}" carries RocksDB\'s headers out of {owner[0]}'
        if fault:
            yield f"{path}:{number}: {fault}"


def stale_rows(root):
    """Rows of LAYERS for folders that do not exist."""
    return [f"tools/layers.py:1: has a row for src/{folder}, which does not exist"
            for folder in LAYERS if not (root / "src" / folder).is_dir()]


def check(root):
    """All findings in sources, and how many files were checked."""
    sources = [path for path in files.project_files(root) if path.suffix in (".cc", ".h")]
    inside = [path for path in sources if path.parts[0] == "src"]
    strays = [path for path in sources if path.parts[0] not in OUTSIDE + ("src",)]
    found = [f"{path}:1: C++ sources belong in src, {', '.join(OUTSIDE)}" for path in strays]
    for path in inside:
        found.extend(faults_of(path, root))
    return found, len(inside)


GOOD = {
    "src/base/a.h": "#include <string>\n#include <fmt/format.h>\n",
    "src/base/log.cc": '#include "base/a.h"\n#include <spdlog/spdlog.h>\n#include <sys/stat.h>\n',
    "src/item/b_test.cc": '#include <gtest/gtest.h>\n#include "tests/support/x.h"\n',
    "src/tables/embedded/inner.h": "#include <rocksdb/db.h>\n",
    "src/tables/embedded/outer.h": '#include "tables/tables.h"\n',
    "src/tables/tables.h": '#include "item/value.h"\n',
    "src/programs/main.cc": '#include "tables/embedded/outer.h"\n#include <CLI/CLI.hpp>\n',
    "tests/model/m.cc": '#include <rocksdb/db.h>\n#include "tables/embedded/inner.h"\n',
}
BAD = {
    "src/base/up.cc": '#include "item/value.h"\n',
    "src/item/across.cc": '#include "expression/parse.h"\n',
    "src/tables/down.h": '#include "tables/embedded/outer.h"\n',
    "src/apps/gate/app.cc": '#include "apps/dedup/dedup.h"\n',
    "src/item/json.cc": "#include <simdjson.h>\n",
    "src/base/log.h": "#include <spdlog/spdlog.h>\n",
    "src/tables/rocks.cc": "#include <rocksdb/db.h>\n",
    "src/tables/rocks2.cc": '#include "rocksdb/db.h"\n',
    "src/programs/leak.cc": '#include "tables/embedded/inner.h"\n',
    "src/base/new.cc": "#include <zlib/zlib.h>\n",
    "src/base/helper.cc": '#include "tests/support/x.h"\n',
    "src/attic/old.cc": "\n",
    "scripts/x.cc": "\n",
}


def self_test():
    """Each planted fault is found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, GOOD)
        found, _ = check(root)
        assert not found, f"found in a good tree: {found}"
        for name, text in BAD.items():
            files.plant(root, {name: text})
            found, _ = check(root)
            (root / name).unlink()
            assert len(found) == 1 and found[0].startswith(f"{name}:1:"), f"{name}: {found}"
        stale = stale_rows(root)
        assert any("src/redis," in row for row in stale), stale
        assert not any("src/base," in row for row in stale), stale
    print(f"layers: {len(BAD) + 1} planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:]:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    found, looked_at = check(files.ROOT)
    found += stale_rows(files.ROOT)
    print("\n".join(found + [f"layers: {looked_at} files, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
