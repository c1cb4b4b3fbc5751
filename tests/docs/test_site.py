"""The documentation as a site: what judges it judges rightly, and all that there is to read is in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.judging import judge
from tests.house.sources import ROOT

CONFIGURATION = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))


def pages_of(nav: Any) -> list[str]:
    """Every page that a navigation names, whichever way it is nested."""
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav.values() if isinstance(nav, dict) else nav) for page in pages_of(part)]


def site(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<!doctype html><title>{name}</title>{body}")
    return folder


def test_all_that_there_is_to_read_is_in_the_site() -> None:
    there = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))

    assert sorted(pages_of(CONFIGURATION["nav"])) == there


def test_the_site_is_built_strictly_and_without_fonts_of_others() -> None:
    assert CONFIGURATION["strict"] is True
    assert CONFIGURATION["theme"]["font"] is False
    assert not {"extra_javascript", "extra_css"} & CONFIGURATION.keys()


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<link rel="preconnect" href="https://fonts.example">',
        '<img src="http://example.org/x.png">',
        "<style>@import 'https://example.org/x.css';</style>",
        "<style>b { background: url(https://example.org/x.png) }</style>",
        "<iframe src=https://example.org/></iframe>",
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(tmp_path: Path, body: str) -> None:
    (wrong,) = judge(site(tmp_path, index=body))

    assert wrong.startswith("index.html: loads ")


def test_style_sheets_are_judged_too(tmp_path: Path) -> None:
    site(tmp_path, index="")
    (tmp_path / "x.css").write_text("@font-face { src: url('https://fonts.example/x.woff2') }")

    assert judge(tmp_path) == ["x.css: loads https://fonts.example/x.woff2"]


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    made = site(tmp_path, index='<a href="a.html#b">a</a><a href="a.html#c">c</a><a href="d.html">d</a>', a="<p id=b>")

    assert judge(made) == [
        "index.html: a.html#c: there is no such place on that page",
        "index.html: d.html leads nowhere",
    ]


def test_links_to_other_sites_and_what_is_here_are_right(tmp_path: Path) -> None:
    body = '<link rel="canonical" href="https://example.org/"><a href="https://example.org/">x</a><a href="#e">e</a>'

    assert judge(site(tmp_path, index=f"{body}<p id=e>", a='<img src="data:image/png;base64,">')) == []


def test_a_site_without_pages_is_none(tmp_path: Path) -> None:
    assert judge(tmp_path) == [f"{tmp_path}: there is no page; build it first"]


def test_the_reverse_proxy_that_is_shown_is_the_one_that_is_shipped() -> None:
    shown = re.search(r"```nginx\n(.*?)```", (ROOT / "docs" / "operating.md").read_text("utf-8"), re.DOTALL)
    assert shown is not None
    shipped = (ROOT / "docs" / "examples" / "nginx.conf").read_text("utf-8")

    lines = {line.partition("#")[0].strip() for line in shown[1].splitlines()}
    assert lines <= {line.strip() for line in shipped.splitlines()}


def test_the_configuration_of_the_reverse_proxy_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "examples" / "nginx.conf").read_text("utf-8")

    assert text.count("{") == text.count("}")
    # Where nginx itself is installed, it is asked.
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert nginx is None or complaints(nginx, text, tmp_path) == []


def complaints(nginx: str, text: str, folder: Path) -> list[str]:
    """What nginx says of this configuration, with a certificate that is there."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=tocsin.example.org"]
    openssl = shutil.which("openssl") or "openssl"
    subprocess.run([openssl, *made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    text = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", text)
    text = re.sub(r"ssl_certificate /.*;", f"ssl_certificate {certificate};", text)
    whole = f"error_log stderr;\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{text}\n}}\n"
    (folder / "nginx.conf").write_text(whole)
    command = [nginx, "-t", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    # An older nginx has another word for HTTP/2, and a user without rights may not take the ports.
    lines = [line for line in tried.stderr.splitlines() if "[emerg]" in line]
    return [line for line in lines if "http2" not in line and "bind()" not in line]


def test_the_configuration_reference_is_made_from_the_settings() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "tocsin.configuration.reference"], capture_output=True, text=True, check=True
    )

    assert (ROOT / "docs" / "configuration.md").read_text("utf-8") == made.stdout
