from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_string

import pytest

import tocsin
from tests.house.sources import ROOT, files


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def metadata(wheel: zipfile.ZipFile, name: str) -> str:
    return wheel.read(f"tocsin-{tocsin.__version__}.dist-info/{name}").decode()


def test_the_wheel_holds_every_file_of_the_package_as_it_is(wheel: zipfile.ZipFile) -> None:
    paths = [path for path in files("*.*", "service") if path.suffix != ".pyc"]
    ours = {path.relative_to(ROOT / "service").as_posix(): path.read_bytes() for path in paths}

    assert ours.keys() - set(wheel.namelist()) == set()
    assert {name for name, body in ours.items() if wheel.read(name) != body} == set()
    assert "tocsin/py.typed" in ours


@pytest.mark.parametrize("folder", ["migrations", "config"])
def test_the_wheel_ships(wheel: zipfile.ZipFile, folder: str) -> None:
    ours = {f"tocsin/_shipped/{path.relative_to(ROOT).as_posix()}": path.read_bytes() for path in files("*.*", folder)}

    assert ours
    assert ours.keys() - set(wheel.namelist()) == set()
    assert {name for name, body in ours.items() if wheel.read(name) != body} == set()


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0] for name in wheel.namelist()} == {"tocsin", f"tocsin-{tocsin.__version__}.dist-info"}


def test_the_wheel_installs_the_command(wheel: zipfile.ZipFile) -> None:
    assert "tocsin = tocsin.cli.__main__:main" in metadata(wheel, "entry_points.txt")


def test_the_wheel_says_its_licence_and_its_python(wheel: zipfile.ZipFile) -> None:
    said = message_from_string(metadata(wheel, "METADATA"))

    assert said["License-Expression"] == "MIT"
    assert said["Requires-Python"] == ">=3.11"


def test_the_changelog_begins_with_this_version() -> None:
    versions = re.findall(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    assert versions[0] == tocsin.__version__
