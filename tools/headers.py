"""Checks that every header compiles on its own, that the headers of a folder fit together, and that
headers and sources include the standard headers that they use.

Usage: tools/headers.py [--jobs N] [--rotate WORD] [--self-test]

Sources are compiled in batches, so the build does not notice an include that is missing: another
source of the batch may have it. This tool notices it, in two ways.

By compiling: each header is included twice by a source of its own. It must include the headers of
the project that it uses, and have a guard. Then all headers of a folder of src/ are included
together: two types with the same name would be one type to the linker, and no other check notices
that. The tool only parses (clang++ -fsyntax-only). To be fast it precompiles the standard headers,
so compiling does not show when one of those is missing.

Compiling each header takes minutes. With --rotate only a twelfth of the headers and of the folders
is compiled, another twelfth for another word: ./dev test gives it the commit.

By text (standard_names.py): a header itself includes the standard header of each name that it uses.
A source does too, or one of the headers of the project that it includes.

The files that the tool makes are in build/headers.
"""

import argparse
import concurrent.futures
import hashlib
import pathlib
import subprocess
import sys
import tempfile

import files
import standard_names

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers",
         "-Isrc", "-I."]
# What many headers include from other projects. standard_names.py checks these by text, too.
COMMON = ["fmt/format.h", "gtest/gtest.h", "gmock/gmock.h"]


def name_of(header):
    """The header as it is written in an include."""
    return str(header.relative_to("src")) if header.parts[0] == "src" else str(header)


# ---- By compiling ----


def precompile(root, out):
    """Makes one precompiled header of the standard headers. Returns the options that use it."""
    out.mkdir(parents=True, exist_ok=True)
    header = out / "common.h"
    names = sorted(standard_names.DECLARES) + ["cstddef", "cstdint"] + COMMON
    header.write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
    compiled = out / "common.pch"
    # With the templates instantiated, loading it takes a tenth of the time.
    subprocess.run(["clang++", *FLAGS, "-fpch-instantiate-templates", "-x", "c++-header",
                    str(header), "-o", str(compiled)], cwd=root, check=True)
    return ["-include-pch", str(compiled)]


def complaint(root, source, headers, options):
    """The compiler's errors for a source that includes these headers; empty if there are none."""
    source.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f'#include "{name_of(header)}"\n' for header in headers)
    source.write_text(text, encoding="utf-8")
    done = subprocess.run(["clang++", "-fsyntax-only", *FLAGS, *options, str(source)], cwd=root,
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


def compile_alone(root, header, out, options):
    """The finding about a header, or None."""
    said = complaint(root, out / (str(header) + ".cc"), [header, header], options)
    return f"{header}: does not compile alone\n{said}" if said else None


def compile_together(root, folder, headers, out, options):
    """The finding about a folder's headers, or None."""
    said = complaint(root, out / folder / "together.cc", headers, options)
    return f"{folder}: its headers do not go together\n{said}" if said else None


def twelfth_of(paths, word):
    """The headers or folders that this word chooses; all without a word."""
    def number(path):
        return hashlib.sha256(f"{word} {path}".encode()).digest()[0]
    return [path for path in paths if word is None or number(path) % 12 == 0]


def compile_all(root, headers, out, jobs, word=None):
    """The findings of the compiler, and how many headers were compiled alone."""
    folders = {}
    for path in headers:
        if path.parts[0] == "src":
            folders.setdefault(path.parent, []).append(path)
    options = precompile(root, out)
    alone = twelfth_of(headers, word)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda header: compile_alone(root, header, out, options), alone))
        # A header that does not compile alone is reported already, and would fail here again.
        if not any(found):
            found += pool.map(
                lambda folder: compile_together(root, folder, folders[folder], out, options),
                twelfth_of(sorted(folders), word))
    return [fault for fault in found if fault], len(alone)


# ---- By text ----


class Includes:
    """What the files of the project include."""

    def __init__(self, root):
        self.root = root
        self.direct = {}

    def of(self, path):
        """The includes of a file of the project, as they are written."""
        if path not in self.direct:
            text = files.read(self.root / path) or ""
            self.direct[path] = standard_names.included_in(text)
        return self.direct[path]

    def reached(self, path):
        """Everything that the file and the headers of the project that it includes include."""
        reached, waiting, seen = set(), [path], {path}
        while waiting:
            for name in self.of(waiting.pop()):
                reached.add(name)
                for header in (pathlib.Path("src") / name, pathlib.Path(name)):
                    if header not in seen and (self.root / header).is_file():
                        seen.add(header)
                        waiting.append(header)
        return reached


def check_text(root, paths):
    """The findings about standard headers."""
    includes = Includes(root)
    for path in paths:
        included = includes.of(path) if path.suffix == ".h" else includes.reached(path)
        missing = standard_names.missing(files.read(root / path) or "", included)
        for header, name in missing.items():
            yield f"{path}: uses {name} and does not include <{header}>"


def check(root, out, jobs, word=None):
    """All findings, and how many headers were compiled alone."""
    paths = [path for path in files.project_files(root) if path.suffix in (".h", ".cc")]
    headers = [path for path in paths if path.suffix == ".h"]
    found = list(check_text(root, paths))
    compiled, count = compile_all(root, headers, out, jobs, word)
    return found + compiled, count


# ---- Self-test ----


def faults_in(tree):
    """The files with findings in a small tree."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, tree)
        found, _ = check(root, root / "build", 2)
        return [fault.split(":")[0] for fault in found]


def self_test():
    """Finds planted faults, and accepts good files."""
    text = faults_in({
        "src/a/good.h": "#pragma once\n#include <string>\nstd::string F();\n",
        "src/a/good.cc": '#include "a/good.h"\nstd::string F() { return {}; }\n',
        "src/a/speaks.cc": '// std::vector\nconst char* kText = "std::map";\n',
        "src/a/forgets.h": '#pragma once\n#include "a/good.h"\ninline std::string G();\n',
        "src/a/source.cc": '#include "a/good.h"\nstd::vector<int> H() { return {}; }\n',
        "src/a/number.cc": "uint64_t I() { return 1; }\n",
    })
    assert text == ["src/a/forgets.h", "src/a/number.cc", "src/a/source.cc"], text
    compiled = faults_in({
        "src/a/good.h": "#pragma once\nstruct Good {};\n",
        "src/a/forgets.h": "#pragma once\ninline Good G() { return {}; }\n",
        "src/a/forgets.cc": '#include "a/good.h"\n#include "a/forgets.h"\n',
        "src/a/twice.h": "struct Twice {};\n",
        "src/a/twice.cc": '#include "a/twice.h"\n',
    })
    assert compiled == ["src/a/forgets.h", "src/a/twice.h"], compiled
    together = faults_in({
        "src/a/one.h": "#pragma once\nstruct Options { int a; };\n",
        "src/a/two.h": "#pragma once\nstruct Options { char b; };\n",
        "src/b/three.h": "#pragma once\nnamespace b {\nstruct Options { int c; };\n}\n",
    })
    assert together == ["src/a"], together
    names = [f"src/a/h{i}.h" for i in range(120)]
    chosen = [twelfth_of(names, f"commit {i}") for i in range(120)]
    assert all(0 < len(some) < 40 for some in chosen), chosen
    assert set().union(*chosen) == set(names)
    print("headers: 6 planted faults found")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rotate", metavar="WORD")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    found, looked_at = check(files.ROOT, files.ROOT / "build" / "headers", arguments.jobs,
                             arguments.rotate)
    print("\n".join(found + [f"headers: {looked_at} compiled, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
