"""`./dev` and `.ci/run`: every part runs and is reported, on a bare machine too."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.sources import ROOT, files

SH = shutil.which("sh") or "/bin/sh"


def run(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Call the script as a stranger would: from elsewhere, with hardly any environment."""
    return subprocess.run(
        [SH, str(folder / "dev"), *arguments],
        cwd="/",
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Path, Path]:
    """A copy of the script in a folder with a blank in its name, and a PATH with no Python on it."""
    folder, tools = tmp_path / "a folder", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    shutil.copy(ROOT / "dev", folder)
    for name in ("sh", "cat", "cksum", "dirname", "sed"):
        (tools / name).symlink_to(shutil.which(name) or name)
    return folder, tools


@pytest.fixture
def ready(bare: tuple[Path, Path]) -> Ready:
    """The same, set up: its Python only writes down how it was called."""
    folder, tools = bare
    for lock in ROOT.glob("requirements*.lock"):
        shutil.copy(lock, folder)
    python, calls = folder / ".venv/bin/python", folder / "calls"
    python.parent.mkdir(parents=True)
    python.write_text(
        f"""#!/bin/sh
[ "$1" = -c ] || {{ printf '%s|' "$PWD" "${{MALLOC_TRIM_THRESHOLD_:-}}" "$@"; echo; }} >>'{calls}'
"""
    )
    python.chmod(0o755)
    assert run(folder, "tocsin", path=str(tools)).returncode == 0
    calls.write_text("")
    return Ready(folder, tools, calls)


@dataclass(frozen=True)
class Ready:
    folder: Path
    tools: Path
    calls: Path

    def run(self, *arguments: str) -> list[list[str]]:
        """Call the script; returns each call of its Python: folder, threshold, arguments."""
        self.calls.write_text("")
        done = run(self.folder, *arguments, path=str(self.tools))
        assert done.returncode == 0, done.stderr
        return [line.split("|")[:-1] for line in self.calls.read_text().splitlines()]


def verbs() -> set[str]:
    said = run(ROOT, "help", path="/usr/bin:/bin").stdout
    return set(re.findall(r"^  ([a-z-]+)", said, re.MULTILINE))


def test_dev_help_needs_no_environment(bare: tuple[Path, Path]) -> None:
    folder, tools = bare

    done = run(folder, "help", path=str(tools))

    assert done.returncode == 0
    assert done.stdout.startswith("usage: ./dev VERB")
    assert not (folder / ".venv").exists()


def test_dev_refuses_a_verb_that_it_does_not_have(bare: tuple[Path, Path]) -> None:
    folder, tools = bare

    done = run(folder, "dance", path=str(tools))

    assert done.returncode == 2
    assert "there is no verb 'dance'" in done.stderr


def test_dev_without_a_python_says_how_to_get_one(bare: tuple[Path, Path]) -> None:
    folder, tools = bare
    for lock in ROOT.glob("requirements*.lock"):
        shutil.copy(lock, folder)

    done = run(folder, "test", path=str(tools))

    assert done.returncode == 1
    assert "no Python 3.11 or later was found" in done.stderr
    assert "apt install python3" in done.stderr


def test_dev_passes_over_a_python_without_venv_and_says_what_it_lacks(bare: tuple[Path, Path]) -> None:
    folder, tools = bare
    lame = tools / "python3"
    # New enough, but `import ensurepip, venv` fails.
    lame.write_text("#!/bin/sh\ncase $2 in *ensurepip*) exit 1 ;; esac\n")
    lame.chmod(0o755)

    done = run(folder, "test", path=str(tools))

    assert done.returncode == 1
    assert "python3 lacks the modules venv and ensurepip" in done.stderr
    assert "apt install python3-venv" in done.stderr


def test_dev_runs_the_program_where_it_was_called_with_its_arguments_as_they_are(ready: Ready) -> None:
    assert ready.run("tocsin", "state", "a page.html") == [
        ["/", "67108864", "-m", "tocsin.cli", "state", "a page.html"],
    ]


def test_dev_test_with_arguments_is_pytest_with_these_at_the_root(ready: Ready) -> None:
    assert ready.run("test", "-k", "dates or states") == [
        [str(ready.folder), "67108864", "-m", "pytest", "-k", "dates or states"],
    ]


def test_dev_sets_up_anew_only_after_a_lock_changed(ready: Ready) -> None:
    with (ready.folder / "requirements-dev.lock").open("a") as lock:
        lock.write("\n")

    first, second = ready.run("bench"), ready.run("bench")

    assert [call[3:5] for call in first[:3]] == [
        ["pip", "--disable-pip-version-check"],
        ["uv", "cache"],
        ["pip", "config"],
    ]
    assert [call for call in first if "sync" in call and "--require-hashes" in call]
    assert second == [[str(ready.folder), "67108864", "-m", "benchmarks.bench"]]


@pytest.mark.parametrize(("cache", "used"), [("$PWD/uv", ""), ("/dev/null/uv", "build/uv-cache")])
def test_dev_sets_up_where_nothing_can_be_written_but_its_folder(ready: Ready, cache: str, used: str) -> None:
    (ready.tools / "mkdir").symlink_to(shutil.which("mkdir") or "mkdir")
    python, seen = ready.folder / ".venv/bin/python", ready.folder / "seen"
    python.write_text(
        f"""{python.read_text()}
case $* in *'uv cache dir') echo "{cache}" ;; *' sync '*) printf %s "${{UV_CACHE_DIR:-}}" >'{seen}' ;; esac
"""
    )

    ready.run("rivals")

    assert seen.read_text() == (str(ready.folder / used) if used else "")


def test_dev_leaves_an_environment_alone_that_only_a_link_leads_to(ready: Ready) -> None:
    elsewhere = ready.folder.parent / "elsewhere"
    (ready.folder / ".venv").rename(elsewhere)
    (ready.folder / ".venv").symlink_to(elsewhere)
    (elsewhere / ".made").write_text("/another/folder\n")
    python = ready.tools / "python3"
    python.write_text(f"""#!/bin/sh
[ "$1" != -m ] || {{ mkdir -p '{ready.folder}/.venv/bin'; cp '{elsewhere}/bin/python' '{ready.folder}/.venv/bin'; }}
""")
    python.chmod(0o755)
    for name in ("cp", "mkdir", "rm"):
        (ready.tools / name).symlink_to(shutil.which(name) or name)

    run(ready.folder, "bench", path=str(ready.tools))

    assert not (ready.folder / ".venv").is_symlink()
    assert (elsewhere / "bin/python").exists()


def test_dev_sets_up_what_bench_compares_with_once_and_by_its_lock(ready: Ready) -> None:
    (ready.tools / "mkdir").symlink_to(shutil.which("mkdir") or "mkdir")

    first, second = ready.run("rivals"), ready.run("rivals")

    assert [call for call in first if call[-2:] == ["--require-hashes", "requirements-bench.lock"]]
    assert second == []


def test_dev_that_cannot_have_what_bench_compares_with_says_so(ready: Ready) -> None:
    (ready.tools / "mkdir").symlink_to(shutil.which("mkdir") or "mkdir")
    python = ready.folder / ".venv/bin/python"
    python.write_text(python.read_text() + "case $* in *requirements-bench.lock) exit 1 ;; esac\n")

    done = run(ready.folder, "rivals", path=str(ready.tools))

    assert done.returncode == 1
    assert "the packages above could not be installed" in done.stderr
    assert not (ready.folder / "build/bench-venv/.made").exists()


def test_dev_test_goes_on_after_a_failure_and_tells_of_every_step(ready: Ready) -> None:
    python = ready.folder / ".venv/bin/python"
    python.write_text(python.read_text() + "case $* in *mypy) exit 1 ;; esac\n")

    done = run(ready.folder, "test", path=f"{ready.tools}:/usr/bin:/bin")

    assert done.returncode == 1
    assert re.search(r"^ruff check +ok$", done.stdout, re.MULTILINE)
    assert re.search(r"^mypy +FAILED$", done.stdout, re.MULTILINE)
    assert "-m|pytest|-n|auto" in ready.calls.read_text()


def test_what_is_left_out_with_the_sources_is_tried_with_the_wheel() -> None:
    _, sources, wheel = (ROOT / "dev").read_text("utf-8").split('step "tests, ')

    left_out = re.findall(r"--ignore=(\S+)", sources)

    assert left_out
    assert set(left_out) <= set(re.findall(r"(?<= )tests/\S+", wheel.partition("}")[0]))


def test_every_verb_that_the_documents_name_exists() -> None:
    named = {
        verb
        for path in [*files("*.md"), ROOT / ".ci/run"]
        for verb in re.findall(r"\./dev ([a-z-]+)", path.read_text("utf-8"))
    }

    assert named
    assert named - verbs() == set()


def test_the_first_two_commands_of_the_readme_are_demo_and_test() -> None:
    commands = re.findall(r"^\./dev .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)

    assert [command.split()[1] for command in commands[:2]] == ["demo", "test"]


BASH = shutil.which("bash") or "/bin/bash"
USED = ("bash", "cat", "dirname", "grep", "head", "id", "mkdir", "sh", "tail", "tee")


def verb(**endings: int) -> str:
    """A `./dev` whose verbs end so at once; its tests say how many were skipped."""
    cases = "".join(f"{name}) echo {name} said so; exit {status} ;;\n" for name, status in endings.items())
    return f"""#!/bin/sh
case $1 in
{cases}test)
    echo "==== 5 passed in 1s ===="
    for which in sources wheel; do echo '<x skipped="'"${{SKIPPED:-0}}"'" >' >build/tests-$which.xml; done
    exit "${{TESTS:-0}}" ;;
esac
"""


def run_ci(folder: Path, script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    tools = folder / "tools"
    for place in (tools, folder / ".ci"):
        place.mkdir()
    for name in USED:
        (tools / name).symlink_to(shutil.which(name) or name)
    shutil.copy(ROOT / ".ci/run", folder / ".ci/run")
    (folder / "dev").write_text(script)
    (folder / "dev").chmod(0o755)
    # Without apt on its path it installs nothing.
    return subprocess.run(
        [BASH, str(folder / ".ci/run")],
        env={"PATH": str(tools)} | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_all_parts_are_run_and_told_of(tmp_path: Path) -> None:
    done = run_ci(tmp_path, verb())

    assert done.returncode == 0, done.stderr
    parts = [line.split()[:2] for line in done.stdout.splitlines() if line.endswith(" s")]
    assert [part for part in parts if part[-1] == "ok"] == [
        [name, "ok"] for name in ("tests", "image", "bench", "soak", "demo", "docs")
    ]
    assert done.stdout.rstrip().endswith("==== 5 passed in 1s ====")


@pytest.mark.parametrize("name", ["image", "bench", "soak", "demo", "docs"])
def test_a_part_that_fails_is_shown_and_fails_the_whole(tmp_path: Path, name: str) -> None:
    done = run_ci(tmp_path, verb(**{name: 1}))

    assert done.returncode == 1
    assert f"{name} said so" in done.stderr
    assert "FAILED" in done.stderr


def test_a_machine_that_cannot_try_the_image_says_why_and_passes(tmp_path: Path) -> None:
    done = run_ci(tmp_path, verb(image=3))

    assert done.returncode == 0
    assert "image said so" in done.stderr
    assert "not run" in done.stdout


def test_tests_that_fail_fail_it(tmp_path: Path) -> None:
    done = run_ci(tmp_path, verb(), TESTS="1")

    assert done.returncode == 1
    assert ["tests", "FAILED"] in [line.split()[:2] for line in done.stdout.splitlines()]


def test_tests_that_were_skipped_fail_it(tmp_path: Path) -> None:
    done = run_ci(tmp_path, verb(), SKIPPED="1")

    assert done.returncode == 1
    assert "skipped" in done.stderr


def test_what_is_not_installed_is_named_with_what_it_is_for(tmp_path: Path) -> None:
    done = run_ci(tmp_path, verb())

    assert "tests: not installed: chromium" in done.stderr
    assert "image: not installed: buildah podman" in done.stderr
