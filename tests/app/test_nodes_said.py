"""What a node says of itself, by which two installations on one database are told apart."""

from __future__ import annotations

import pytest

from tocsin.app.assembly import configuration_digest
from tocsin.settings import ClusterSettings, HttpSettings, InstanceSettings, RenderSettings, Settings

OURS = Settings(
    instance=InstanceSettings(contact="mailto:us@example.org"), http=HttpSettings(public_url="https://a.example/")
)


@pytest.mark.parametrize(
    ("theirs", "is_same"),
    [
        ({}, True),
        # What differs from node to node.
        ({"cluster": ClusterSettings(node="two")}, True),
        ({"http": HttpSettings(listen="127.0.0.1:9000", public_url="https://a.example/")}, True),
        # What two installations differ in.
        ({"http": HttpSettings(public_url="https://b.example/")}, False),
        ({"instance": InstanceSettings(contact="mailto:them@example.org")}, False),
        ({"render": RenderSettings(limit=3)}, False),
    ],
)
def test_nodes_of_one_installation_have_one_digest(theirs: dict[str, object], is_same: bool) -> None:  # noqa: FBT001 - a column of the table
    given = {"instance": OURS.instance, "http": OURS.http, **theirs}

    assert (configuration_digest(Settings(**given)) == configuration_digest(OURS)) is is_same  # type: ignore[arg-type]  # as the tests give them
