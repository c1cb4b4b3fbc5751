"""What every file of the repository obeys."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from tests.house.sources import ROOT, files, nodes, place, syntax

CODE = ("service", "tests", "benchmarks")
EXCEPTION = re.compile(r"#\s*(?:ruff: )?(?:noqa|type: ignore)\b(?:: ?[A-Z0-9, ]+|\[[a-z, -]+\])?(?P<reason>.*)")
EMPTY_NAMES = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|misc)(?:_|$)|(?:Util|Helper|Manager)s?$")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")


def last_name(node: ast.expr) -> str:
    """Return `c` of `a.b.c`."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def test_no_file_is_longer_than_700_lines() -> None:
    long = [place(path) for path in files("*.py", *CODE) if len(path.read_text("utf-8").splitlines()) > 700]

    assert not long, "\n".join(long)


def test_no_function_is_longer_than_60_lines() -> None:
    found = [*nodes(ast.FunctionDef, *CODE), *nodes(ast.AsyncFunctionDef, *CODE)]
    long = [place(path, node) for path, node in found if (node.end_lineno or 0) - node.lineno >= 60]

    assert not long, "\n".join(long)


def task_groups(path: Path) -> set[str]:
    """Return what a file calls its task groups: where one is opened, handed over or declared."""
    names = set()
    for node in syntax(path):
        match node:
            case ast.withitem(context_expr=ast.Call(func=made), optional_vars=ast.expr() as target):
                names |= {last_name(target)} if last_name(made) == "TaskGroup" else set()
            case ast.arg(arg=name, annotation=ast.expr() as kind) if "TaskGroup" in ast.unparse(kind):
                names |= {name, f"_{name}"}
            case ast.AnnAssign(target=target, annotation=kind) if "TaskGroup" in ast.unparse(kind):
                names.add(last_name(target))
    return names


def test_every_task_has_a_group_as_its_parent() -> None:
    loose = [
        place(path, call)
        for path, call in nodes(ast.Call, *CODE)
        if last_name(call.func) in {"create_task", "ensure_future"}
        and not (isinstance(call.func, ast.Attribute) and last_name(call.func.value) in task_groups(path))
    ]

    assert not loose, "\n".join(loose)


def test_no_handler_swallows_every_exception_but_the_worker_loops() -> None:
    broad = [
        path.relative_to(ROOT).as_posix()
        for path, handler in nodes(ast.ExceptHandler, "service")
        if (handler.type is None or last_name(handler.type) in {"Exception", "BaseException"})
        and not isinstance(handler.body[-1], ast.Raise)
    ]

    assert set(broad) <= {"service/tocsin/engine/visiting/visit.py", "service/tocsin/server/jobs.py"}
    assert len(broad) <= 2


def test_every_exception_to_a_rule_has_its_reason() -> None:
    """It stands behind the exception, or on a line of its own above it."""
    bare = []
    for path in files("*.py", *CODE):
        above = ""
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            excepted = EXCEPTION.search(line)
            if excepted and not re.search(r"\w", excepted["reason"]) and not above.lstrip().startswith("#"):
                bare.append(f"{place(path)}:{number}")
            above = line

    assert not bare, "\n".join(bare)


def test_nothing_is_named_after_having_no_idea() -> None:
    named = [place(path) for path in files("*.py", *CODE) if EMPTY_NAMES.search(path.stem)]
    named += [place(path, kind) for path, kind in nodes(ast.ClassDef, *CODE) if EMPTY_NAMES.search(kind.name)]

    assert not named, "\n".join(named)


def test_a_test_is_named_as_a_sentence() -> None:
    plain = [(path, test, test.name) for path, test in nodes(ast.FunctionDef, "tests", pattern="test_*.py")]
    waiting = [(path, test, test.name) for path, test in nodes(ast.AsyncFunctionDef, "tests", pattern="test_*.py")]
    short = [place(path, test) for path, test, name in [*plain, *waiting] if re.fullmatch(r"test_[^_]+", name)]

    assert not short, "\n".join(short)


def test_no_test_sleeps() -> None:
    asleep = [
        place(path, call)
        for path, call in nodes(ast.Call, "tests", pattern="test_*.py")
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "sleep"
        and last_name(call.func.value) in {"asyncio", "time"}
        # sleep(0) only lets others have their turn.
        and not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]

    assert not asleep, "\n".join(asleep)


def test_no_test_measures_time() -> None:
    """What takes too long is told by `tests.effort`, or by an input on which it would take hours."""
    clocks = {"perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time", "thread_time_ns"}
    measured = [
        place(path, name)
        for kind in (ast.Attribute, ast.Name)
        for path, name in nodes(kind, "tests")
        if last_name(name) in clocks
    ]

    assert not measured, "\n".join(measured)


def test_no_test_replaces_a_part_by_a_mock() -> None:
    whole = [(path, name.name) for path, node in nodes(ast.Import, "tests") for name in node.names]
    parts = [
        (path, f"{node.module}.{name.name}") for path, node in nodes(ast.ImportFrom, "tests") for name in node.names
    ]
    mocks = [f"{place(path)}: {name}" for path, name in [*whole, *parts] if "mock" in name.lower()]

    assert not mocks, "\n".join(mocks)


def test_locks_name_no_address() -> None:
    locks = sorted(ROOT.glob("requirements*.lock"))

    assert len(locks) == 6
    assert [path.name for path in locks if "://" in path.read_text("utf-8")] == []


def test_every_version_in_a_lock_has_its_hash() -> None:
    for path in ROOT.glob("requirements*.lock"):
        entries = re.split(r"\n(?=\S)", path.read_text("utf-8").strip())

        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_links_in_the_documents_lead_somewhere() -> None:
    dead = [
        f"{place(path)}: {target}"
        for path in files("*.md")
        for target in LINK.findall(path.read_text("utf-8"))
        if not (path.parent / target).exists()
    ]

    assert not dead, "\n".join(dead)


def test_no_file_names_a_place_of_one_machine() -> None:
    home = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/\w")
    kinds = ("*.py", "*.md", "*.toml", "*.sql", "*.yaml", "*.sh", "dev", "Dockerfile")
    named = [place(path) for kind in kinds for path in files(kind) if home.search(path.read_text("utf-8"))]

    assert not named, "\n".join(named)


LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"


def test_every_floor_imports_only_floors_below_it() -> None:
    # In a process of its own: it switches off every logger that is there.
    linted = subprocess.run([sys.executable, "-c", LINT], cwd=ROOT, capture_output=True, text=True, check=False)

    assert linted.returncode == 0, linted.stdout + linted.stderr
