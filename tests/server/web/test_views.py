"""What holds for each of these pages."""

from __future__ import annotations

import re

from tests.server.web.visiting import Visitor, tree

PAGES = (
    "/changes",
    "/changes?show=major",
    "/changes?show=minor",
    "/changes?show=all",
    "/changes?show=dead",
    "/changes?kind=unreachable",
    "/changes?group=main",
    "/questions",
    "/questions?show=closed",
    "/questions?show=standing",
    "/questions/1",
    "/activity",
    "/notifications",
    "/notifications/route",
    "/notifications/channel?type=webhook",
    "/activity/jobs",
    "/activity/dead",
    "/settings",
    "/settings/groups",
    "/settings/group?name=main",
    "/settings/force",
    "/settings/access",
    "/settings/audit",
    "/settings/nodes",
    "/api/docs",
)


async def test_no_page_is_larger_than_50_KB_and_none_has_a_style_or_a_script_in_it(visitor: Visitor) -> None:
    for path in PAGES:
        text = await visitor.get(path)

        assert len(text.encode()) <= 50_000, path
        assert not re.search(r"<style|<[^>]+\sstyle=|<script(?! src=)|\son[a-z]+=|javascript:", text), path


async def test_every_form_carries_the_token_of_its_reader(visitor: Visitor) -> None:
    for path in PAGES:
        for form in tree(await visitor.get(path)).xpath("//form[@method='post']"):
            assert form.xpath(".//input[@name='csrf']/@value")[0], path


async def test_every_field_has_a_label(visitor: Visitor) -> None:
    for path in PAGES:
        page = tree(await visitor.get(path))
        labelled = {label.get("for") for label in page.xpath("//label[@for]")}
        for field in page.xpath("//input[not(@type='hidden')] | //select | //textarea"):
            own = field.get("aria-label") or field.get("id") in labelled or field.xpath("ancestor::label")
            assert own, (path, field.get("name"))


MOST_BYTES_OF_SCRIPTS = 5_200


async def test_no_list_loads_more_than_5200_bytes_of_scripts_and_a_form_with_a_preview_what_it_needs(
    visitor: Visitor,
) -> None:
    for path in PAGES:
        scripts = tree(await visitor.get(path)).xpath("//script/@src")
        sizes = [len((await visitor.client.get(each)).content) for each in scripts if "preview" not in each]

        assert sum(sizes) <= MOST_BYTES_OF_SCRIPTS, path


async def test_the_place_of_notices_is_on_every_page(visitor: Visitor) -> None:
    for path in PAGES:
        assert len(tree(await visitor.get(path)).xpath("//*[@id='told'][@role='status']")) == 1, path
