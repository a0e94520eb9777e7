"""Fails on an include that the design's layers do not allow.

Usage: tools/layers.py [--self-test]

The tables below are the one place where the layers are written down for a machine. A folder
may include itself and what its row names. Example of a finding:

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
    "expression": ["base", "item"],
    "tables": ["base", "item"],
    "objects": ["base"],
    "redis": ["base"],
    "aws": ["base", "http"],
    "wire": ["base", "item", "tables"],
    "slack": ["base", "http"],
    "tables/embedded": ["base", "item", "expression", "tables"],
    "tables/remote": ["base", "item", "tables", "wire", "aws", "http"],
    "objects/directory": ["base", "objects"],
    "objects/s3": ["base", "objects", "aws", "http"],
}
APPS = ["gate", "dedup", "archive", "documents", "attempts"]
SERVERS = ["dynamodb", "api", "lambda", "demo"]
LAYERS.update({f"apps/{app}": ["base", "item", "tables", "objects", "slack"] for app in APPS})
# An app's own parts: moving attempts from an old store, and the old store that is a Redis.
LAYERS["apps/attempts/moving"] = ["base", "item", "tables", "apps/attempts"]
LAYERS["apps/attempts/moving/redis"] = ["base", "item", "redis", "apps/attempts",
                                        "apps/attempts/moving"]
BELOW_SERVERS = list(LAYERS)
LAYERS.update({f"servers/{server}": BELOW_SERVERS for server in SERVERS})
LAYERS["programs"] = list(LAYERS)

# Start of a third-party header: the folders of src/ that may include it, there in .cc files only.
THIRD_PARTY = {
    "rocksdb/": ["tables/embedded"],
    "xxhash.h": ["base", "tables/embedded"],
    "xxh_x86dispatch.h": ["base"],
    "simdjson.h": ["base"],
    "zip.h": ["base"],
    "spdlog/": ["base"],
    "prometheus/": ["base"],
    "toml++/": ["base"],
    "openssl/": ["base", "http", "aws"],
    "CLI/": ["base", "programs"],
    "boost/": ["http"],
    "curl/": ["http"],
    "hiredis/": ["redis"],
    "argon2.h": ["apps/attempts"],
    "fmt/": list(LAYERS),
}
# Those that our headers may include as well: formatting is small and everywhere; RocksDB's are for
# the inner headers of its folder, which nobody outside may reach through any chain of includes.
IN_HEADERS = {"fmt/": list(LAYERS), "rocksdb/": ["tables/embedded"]}
NEVER_REACHED_FROM_OUTSIDE = "rocksdb/"
TEST_LIBRARIES = ("gtest/", "gmock/")

# These stand outside of the layers and may include all of src/ and every library.
OUTSIDE = ("tests", "bench", "fuzz")

POSIX = re.compile(
    r"(sys/|netinet/|arpa/|linux/)"
    r"|(dirent|errno|fcntl|limits|malloc|netdb|poll|pthread|sched|signal|spawn|stdlib|string|time"
    r"|unistd)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(name, folders):
    """The longest of the folders that a path lies in, or None."""
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
    """Neither the standard library's, whose headers have no suffix, nor the system's."""
    return not POSIX.match(name) and ("/" in name or "." in name)


def third_party_fault(name, folder, is_header, is_test):
    """Why a file of the folder may not include this library's header, or None."""
    if is_test and name.startswith(TEST_LIBRARIES):
        return None
    prefix = next((known for known in THIRD_PARTY if name.startswith(known)), None)
    if prefix is None:
        return f"<{name}> is of no library named in tools/layers.py"
    if folder not in THIRD_PARTY[prefix] and not (is_test and prefix == "rocksdb/"):
        return f"src/{folder} may not include <{name}>; only {', '.join(THIRD_PARTY[prefix])} may"
    if is_header and folder not in IN_HEADERS.get(prefix, []):
        return f"<{name}> belongs into .cc files: our headers keep libraries out"
    return None


def ours_fault(name, folder, is_test):
    """Why a file of the folder may not include this header of ours, or None."""
    if is_test and name.startswith("tests/"):
        return None
    target = folder_of(name, LAYERS)
    if target is None:
        return f'"{name}" lies in no folder named in tools/layers.py'
    if target != folder and target not in LAYERS[folder]:
        allowed = ", ".join(LAYERS[folder]) or "nothing else"
        return f'src/{folder} may not include "{name}"; it may include: {allowed}'
    return None


def reaches(name, root, seen):
    """Whether a header of ours leads, through ours, to the header that stays inside its folder."""
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
        yield f"{path}:1: lies in no folder named in tools/layers.py"
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
                fault = f'"{included}" brings RocksDB\'s headers out of {owner[0]}'
        if fault:
            yield f"{path}:{number}: {fault}"


def check(root):
    """All findings, and how many files were looked at."""
    sources = [path for path in files.project_files(root) if path.suffix in (".cc", ".h")]
    inside = [path for path in sources if path.parts[0] == "src"]
    strays = [path for path in sources if path.parts[0] not in OUTSIDE + ("src",)]
    found = [f"{path}:1: C++ lies only in src, {', '.join(OUTSIDE)}" for path in strays]
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
    print(f"layers: {len(BAD)} planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:]:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    found, looked_at = check(files.ROOT)
    print("\n".join(found + [f"layers: {looked_at} files, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
