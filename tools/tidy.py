"""Checks the rules of style that a machine can check.

Usage: tools/tidy.py [--self-test]

It reads every text file that git tracks, or would track after "git add":
  all files     have no marks of unfinished work, except a to-do that names its issue: TODO(#12);
                no absolute path of somebody's machine; no host name of a package registry
  sources       have at most 700 lines a file, 70 lines a function and 100 columns a line
  headers       begin with a comment and have #pragma once
  tests         never sleep
  documents     (*.md) have at most 120 columns a line, except in tables and in fenced blocks of
                code, which cannot be wrapped; every file that they name exists.
                A document that a C++ comment names exists too

Other files, such as data, have no limit of length or width.
A finding looks like this: src/item/value.cc:812: the file has 812 lines, more than 700
"""

import ast
import pathlib
import re
import sys
import tempfile

import files

MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100
MAX_DOCUMENT_COLUMNS = 120

CPP = (".cc", ".h")
SOURCES = CPP + (".py", ".sh", ".cmake", ".js", ".css")
SOURCE_NAMES = ("dev", "CMakeLists.txt", "run")

# Written in pieces, or this file would find itself.
UNFINISHED = re.compile(r"\b(FIX" r"ME|XX" r"X)\b")
TO_DO = re.compile(r"\bTO" r"DO\b(?!\(#\d+\))")
MACHINE_PATH = re.compile(r"(?<![\w.}$>*-])/(wo" r"rk|ho" r"me|ro" r"ot|Us" r"ers)/\w")
REGISTRY = re.compile(
    r"registry\.\w+\.|\w+\.npm" r"js\.|\bpypi\.or" r"g|docker\.i" r"o|ghcr\.i" r"o|quay\.i" r"o"
    r"|artif" r"actory|crates\.i" r"o")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep|SleepForMicroseconds)\s*\(")
# Files that documents name, and documents that C++ names.
NAMED_FILE = re.compile(
    r"(?<![\w/.-])(?:src|tests|fuzz|bench|docs|tools|cmake)/[\w./-]+\.(?:cc|h|md|py|sh|cmake)\b")
NAMED_DOCUMENT = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.md\b")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def is_source(path):
    return path.suffix in SOURCES or path.name in SOURCE_NAMES


def is_test(path):
    return path.suffix in CPP and (path.name.endswith("_test.cc") or path.parts[0] == "tests")


def blank(match):
    """Spaces of the same shape, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


CPP_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'", re.S)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*(\([^()]*\)[^()=]*)?$")
DATA = re.compile(r"([=(,:]|\breturn)\s*$")


def kind_of(before, around):
    """What a brace opens, by the text before it and the kinds of the braces around it."""
    if around and around[-1] in ("data", "in data"):
        return "in data"
    if DATA.search(before):
        return "data"
    if all(kind == "scope" for kind in around):
        return "scope" if SCOPE.search(before) else "function"
    return "inner"


def cpp_functions(text):
    """(first line, lines) of each function body, found by braces. This is approximate, which is
    enough for a limit.

    A brace opens a scope after namespace, class and the like; data where a value stands; and
    otherwise, in a scope, a function. A table of data inside a function is not counted.
    """
    # A digit separator is not a quote.
    text = CPP_NOISE.sub(blank, re.sub(r"(?<=\d)'(?=\d)", "_", text))
    text = re.sub(r"^[ \t]*#.*?(?<!\\)$", blank, text, flags=re.M | re.S)
    stack = []
    head = 0
    line = 1
    data_lines = 0
    for position, character in enumerate(text):
        if character == "\n":
            line += 1
        elif character == "{":
            before = text[head:position]
            stack.append((kind_of(before, [kind for kind, _ in stack]), line))
            if stack[-1][0] == "function":
                data_lines = 0
            head = position + 1
        elif character == "}":
            kind, first = stack.pop() if stack else ("inner", line)
            if kind == "data":
                data_lines += line - first
            elif kind == "function":
                yield first, line - first + 1 - data_lines
            head = position + 1
        elif character == ";":
            head = position + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            yield node.lineno, node.end_lineno - node.lineno + 1


def everywhere_faults(lines):
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "a mark of unfinished work"
        if TO_DO.search(line):
            yield number, "a to-do names its issue, such as TO" "DO(#12)"
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if REGISTRY.search(line):
            yield number, "a host of a package registry"


def source_faults(path, text, lines):
    if len(lines) > MAX_FILE_LINES:
        yield len(lines), f"the file has {len(lines)} lines, more than {MAX_FILE_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns, more than {MAX_COLUMNS}"
    functions = []
    if path.suffix in CPP:
        functions = cpp_functions(text)
    elif path.suffix == ".py":
        functions = python_functions(text)
    for first, length in functions:
        if length > MAX_FUNCTION_LINES:
            yield first, f"a function of {length} lines, more than {MAX_FUNCTION_LINES}"


def header_faults(text, lines):
    if not text.startswith("//"):
        yield 1, "a header opens with a comment: what it is, how it is used, which threads"
    if "#pragma once" not in lines:
        yield 1, "a header has #pragma once"


def test_faults(lines):
    for number, line in enumerate(lines, 1):
        if SLEEP.search(line.split("//")[0]):
            yield number, "a test sleeps; inject the clock or wait for the event"


def document_faults(lines):
    """Lines that are too wide. Rows of tables and fenced blocks cannot be wrapped."""
    fenced = False
    for number, line in enumerate(lines, 1):
        start = line.lstrip()
        if start.startswith("```"):
            fenced = not fenced
        elif not fenced and not start.startswith("|") and len(line) > MAX_DOCUMENT_COLUMNS:
            yield number, f"{len(line)} columns, more than {MAX_DOCUMENT_COLUMNS}"


def name_faults(path, lines, root):
    """Names of files that do not exist."""
    pattern = NAMED_DOCUMENT if path.suffix in CPP else NAMED_FILE
    for number, line in enumerate(lines, 1):
        links = LINK.findall(line) if path.suffix == ".md" else []
        for name in pattern.findall(line) + [str(path.parent / link) for link in links]:
            if not (root / name).exists():
                yield number, f"names {name}, which does not exist"


def faults_of(path, text, root):
    lines = text.splitlines()
    yield from everywhere_faults(lines)
    if is_source(path):
        yield from source_faults(path, text, lines)
    if path.suffix == ".h":
        yield from header_faults(text, lines)
    if path.suffix == ".md":
        yield from document_faults(lines)
    if path.suffix == ".md" or path.suffix in CPP:
        yield from name_faults(path, lines, root)
    if is_test(path):
        yield from test_faults(lines)


def check(root):
    """All findings, how many files were looked at, and which are not text."""
    found, looked_at, binary = [], 0, []
    for path in files.project_files(root):
        text = files.read(root / path)
        if text is None or "\0" in text:
            binary.append(str(path))
            continue
        looked_at += 1
        found.extend(
            f"{path}:{number}: {fault}" for number, fault in faults_of(path, text, root))
    return found, looked_at, binary


HEADER = "// What it is.\n#pragma once\n"
BODY = "  x += 1;\n" * 80
GOOD = {
    "src/base/a.h": HEADER + "class A {\n" + "  int a();\n" * 80 + "};\n",
    "src/base/a.cc": "const int kTable[] = {\n" + "  1,\n" * 90 + "};\n"
                     "void F() {  // TO" "DO(#3): faster\n  char c = '{';\n  int n = 1'000;\n}\n",
    "src/base/c.cc": "void F() {\n  Check({\n" + '    {"a", {1}},\n' * 80 + "  });\n}\n",
    "src/base/b.cc": "namespace a {\nnamespace {\nstruct B {\n" + "int a() { return 1; }\n" * 80
                     + "};\n}\n}\n",
    "docs/names.md": "see ../shared/wo" "rk/x, src/base/a.h, [c](names.md)\n",
    "docs/wide.md": "```\n" + "wide " * 30 + "\n```\n| " + "wide " * 30 + "|\n" + "x" * 120 + "\n",
    "docs/data.txt": "wide " * 100 + "\n",
}
BAD = {
    "src/base/long.cc": "int a;\n" * 701,
    "src/base/body.cc": "namespace a {\nint F(int x) {\n" + BODY + "}\n}\n",
    "src/base/method.cc": "class A {\n  A() : a_(1), b_{2} {\n" + BODY + "  }\n};\n",
    "src/base/table.cc": "int a[] = {\n" + "1,\n" * 80 + "};\nvoid F() {\n" + BODY + "}\n",
    "src/base/lambda.cc": "void F() {\n  Call([&](int x) {\n" + BODY + "  }, {\n1});\n}\n",
    "src/base/default.cc": "class A {\n void F(B b = {}) {\n" + BODY + "}\n};\n",
    "src/base/braces.cc": 'const char* s = "}";\nint F() {\n' + BODY + "}\n",
    "tools/body.py": "def f(x):\n" + BODY.replace("  x += 1;", "    x += 1") + "\n",
    "src/base/wide.cc": "// " + "x" * 98 + "\n",
    "src/base/pragma.h": "// What it is.\n",
    "src/base/comment.h": "#pragma once\n",
    "src/base/mark.cc": "// FIX" "ME\n",
    "docs/todo.md": "TO" "DO: think\n",
    "src/base/path.cc": '// "/wo' 'rk/main/x"\n',
    "web/package.json": '"https://registry.npm' 'js.org/x"\n',
    "src/base/sleep_test.cc": "std::this_thread::sleep_for(1s);\n",
    "tests/crash/loop.cc": "usleep(10);\n",
    "docs/columns.md": "x" * 121 + "\n",
    "docs/after.md": "```\n" + "wide " * 30 + "\n```\n" + "wide " * 30 + "\n",
    "docs/gone.md": "see `src/base/gone.cc`\n",
    "docs/links.md": "see [it](nowhere.md)\n",
    "src/base/names.cc": "// As in docs/formats/gone.md.\n",
}


def self_test():
    """Each planted fault is found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, GOOD)
        assert not check(root)[0], f"found in a good tree: {check(root)[0]}"
        for name, text in BAD.items():
            files.plant(root, {name: text})
            found = check(root)[0]
            (root / name).unlink()
            assert len(found) == 1 and found[0].startswith(name), f"{name}: {found}"
    print(f"tidy: {len(BAD)} planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:]:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    found, looked_at, binary = check(files.ROOT)
    print("\n".join(found))
    for path in binary:
        print(f"not text, so not looked at: {path}")
    print(f"tidy: {looked_at} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
