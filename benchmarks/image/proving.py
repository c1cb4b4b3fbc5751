"""What is promised of the container, tried on one."""

from __future__ import annotations

import json
import time
from typing import Any, Final

from benchmarks.image.building import IMAGE, Workshop
from benchmarks.image.commands import call
from benchmarks.image.container import BOUNDED, SHUT, TOKEN, Container
from benchmarks.image.telling import Report, Unproved, hold

FIRST_MAJOR_S: Final = 60.0
"""What is promised of a machine that has nothing else to do; told, and no fault of a machine that has."""
PATIENCE_S: Final = 300.0
"""How long anything is waited for: it ends what never comes."""
STOP_S: Final = 60
"""Longer than a stop takes; who has not stopped by then is killed, and ends with another status."""
UID: Final = 10330
WATCHED: Final = "http://example.invalid/kept"

_WRITABLE = """
import os, json
found = []
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
    if os.access(folder, os.W_OK):
        found.append(folder)
        folders[:] = []
    else:
        found += [path for name in files if not folder.startswith("/dev")
                  and not os.path.islink(path := os.path.join(folder, name)) and os.access(path, os.W_OK)]
print(json.dumps(found))
"""
_PROCESSES = """
import json, os
from pathlib import Path
found = []
for place in Path("/proc").iterdir():
    if place.name.isdigit() and int(place.name) != os.getpid():
        try:
            name, rest = (place / "stat").read_text().split(" (", 1)[1].rsplit(") ", 1)
            command = (place / "cmdline").read_text().split(chr(0))
        except OSError:
            continue
        state, parent = rest.split()[:2]
        found.append({"pid": int(place.name), "state": state, "parent": int(parent), "command": command})
print(json.dumps(found))
"""


def prove(workshop: Workshop, report: Report) -> None:
    """Take a container through its life."""
    bounds = _bounds(workshop, report)
    container = Container(workshop, "tocsin-proof", *bounds)
    began = container.run()
    ready_s = container.until(container.is_ready, "ready", PATIENCE_S, began)
    report.proved("ready after `podman run`", f"{ready_s:.1f} s")
    _prove_token(container, report)
    _prove_rest(container, report, is_bounded=bounds == BOUNDED)
    _prove_demo(container, report, began)
    _prove_shut(container, report)
    container.until(lambda: container.health() == "healthy", "HEALTHCHECK", PATIENCE_S, time.monotonic())
    report.proved("HEALTHCHECK", "healthy")
    _prove_doctor(container, report)
    _prove_cells(container, report)
    _prove_no_zombies(container, report)
    _prove_kept(container, report)
    heard_before = container.log().count('"configuration.read"')
    container.signal("HUP")
    heard_s = container.until(
        lambda: container.log().count('"configuration.read"') > heard_before, "SIGHUP", PATIENCE_S, time.monotonic()
    )
    report.proved("SIGHUP has it read its configuration again", f"{heard_s:.1f} s")
    status, took_s = container.stop(STOP_S)
    hold(status == 0, f"SIGTERM ended it with {status}; its log ends with:\n{container.log()[-2000:]}")
    report.proved("SIGTERM ends it with 0", f"{took_s:.1f} s")


def prove_demo_command(workshop: Workshop, report: Report) -> None:
    """Run `tocsin demo` as a container, which ends by itself."""
    began = time.monotonic()
    name = "tocsin-demo"
    call(workshop.podman("run", "--detach", "--name", name, *SHUT, IMAGE, "demo", "--json"))
    seen_s = None
    while seen_s is None and time.monotonic() - began < PATIENCE_S:
        lines = call(["/bin/sh", "-c", '"$@" 2>/dev/null', "sh", *workshop.podman("logs", name)]).splitlines()
        if any('"outcome":"major"' in line.replace(": ", ":") for line in lines):
            seen_s = time.monotonic() - began
        else:
            time.sleep(0.2)
    call(workshop.podman("stop", "--time", "15", name))
    if seen_s is None:
        raise Unproved(f"`tocsin demo` told of no major change within {PATIENCE_S:g} s")
    report.proved("`podman run … demo` to its first major change", _told(seen_s))


def _bounds(workshop: Workshop, report: Report) -> tuple[str, ...]:
    """Say which bounds on memory and processes the machine lets us set."""
    try:
        call(workshop.podman("run", "--rm", *SHUT, *BOUNDED, "--entrypoint", "python3", IMAGE, "-c", "pass"))
    except Unproved as exc:
        report.proved("NOT proved: bounds on memory and processes, as this machine lets nobody set them", str(exc))
        return ("--cgroups=disabled",)
    return BOUNDED


def _prove_token(container: Container, report: Report) -> None:
    printed = TOKEN.findall(container.log())
    hold(len(printed) == 1, f"{len(printed)} first tokens were printed, not one")
    status, body = container.ask("GET", "/api/v1/pages", token="")
    hold(status == 401, f"without a token the interface answers {status}: {body[:200]!r}")
    container.token = printed[0]
    container.read("/api/v1/pages")
    report.proved("the first token is printed once; the interface is shut without it, and open with it")


def _prove_shut(container: Container, report: Report) -> None:
    status = dict(
        line.split(":\t", 1) for line in container.inside("cat", "/proc/1/status").splitlines() if ":\t" in line
    )
    hold(set(status["Uid"].split()) == {str(UID)}, f"process 1 runs as {status['Uid']}")
    for name in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb"):
        hold(int(status[name], 16) == 0, f"process 1 has capabilities: {name} {status[name]}")
    hold(status["NoNewPrivs"].strip() == "1", "process 1 may gain privileges")
    report.proved("process 1 is ours, without privileges", f"uid {UID}, no capabilities, no new privileges")
    writable = set(json.loads(container.inside("python3", "-c", _WRITABLE)))
    allowed = {"/tmp", "/var/lib/tocsin", "/dev/shm", "/dev/mqueue"}  # noqa: S108 - what a container is given
    hold(writable <= allowed, f"it can write to {sorted(writable - allowed)}")
    report.proved("nothing can be written but the volume and memory", ", ".join(sorted(writable)))


def _prove_doctor(container: Container, report: Report) -> None:
    # 1: it finds something for its user, such as that no contact is set; 2 and 3 would be faults of ours.
    container.inside("tocsin", "doctor", statuses=(0, 1))
    report.proved("`podman exec … tocsin doctor`")


def _prove_cells(container: Container, report: Report) -> None:
    """Enter a cell, or get the mend: that depends on the seccomp profile of the engine, and on the host."""
    code = "from tocsin.adapters.processes.aside import why_no_cells; import apprise; print(why_no_cells() or '')"
    why = container.inside("python3", "-c", code).strip()
    hold(not why or "sysctl" in why or "seccomp profile" in why, f"it allows no cell, and names no mend: {why}")
    report.proved("channels of Apprise", why or "they have their cell under this engine's seccomp profile")


def _prove_rest(container: Container, report: Report, *, is_bounded: bool) -> None:
    processes = _processes(container)
    fetchers = [process for process in processes if "tocsin.app.fetcher" in process["command"]]
    memory = container.memory_mb() if is_bounded else None
    figure = "not known" if memory is None else f"{memory:.0f} MB of 512"
    report.proved(f"memory at rest with {len(fetchers)} fetcher process{'es' if len(fetchers) != 1 else ''}", figure)


def _prove_demo(container: Container, report: Report, began: float) -> None:
    """From the start of a new container, over one click, to the first major change of the demo that can be seen."""
    status, body = container.ask("POST", "/demo")
    hold(status == 303, f"POST /demo was answered {status}: {body[:400]!r}")
    waited_s = container.until(lambda: _has_major(container), "the first major change", PATIENCE_S, began)
    report.proved("`podman run`, and one click, to the demo's first major change", _told(waited_s))


def _told(seconds: float) -> str:
    late = "" if seconds <= FIRST_MAJOR_S else f", LATER than the {FIRST_MAJOR_S:g} s of a machine without other work"
    return f"{seconds:.1f} s{late}"


def _has_major(container: Container) -> bool:
    return bool(container.read("/api/v1/alerts?outcome=major")["items"])


def _prove_no_zombies(container: Container, report: Report) -> None:
    """A fetcher that dies is replaced, and its remains are taken away."""
    before = [process for process in _processes(container) if "tocsin.app.fetcher" in process["command"]]
    hold(before, "there is no fetcher process")
    container.inside("python3", "-c", f"import os; os.kill({before[0]['pid']}, 9)")

    def is_replaced() -> bool:
        now = _processes(container)
        new = [process["pid"] for process in now if "tocsin.app.fetcher" in process["command"]]
        return len(new) == len(before) and before[0]["pid"] not in new and all(each["state"] != "Z" for each in now)

    took_s = container.until(is_replaced, "another fetcher process", PATIENCE_S, time.monotonic())
    report.proved("a fetcher that is killed is replaced, and no zombie stays", f"{took_s:.1f} s")


def _prove_kept(container: Container, report: Report) -> None:
    """What was stored outlives a kill, and no second token is made."""
    status, body = container.ask("POST", "/api/v1/pages", body=json.dumps({"url": WATCHED}))
    hold(status in {200, 201, 202}, f"POST /api/v1/pages was answered {status}: {body[:400]!r}")
    alerts = len(container.read("/api/v1/alerts")["items"])
    container.kill()
    began = container.start()
    ready_s = container.until(container.is_ready, "ready again", PATIENCE_S, began)
    listed = json.dumps(container.read("/api/v1/pages?q=kept"))
    hold(WATCHED in listed, f"a page is lost after a kill: {listed[:400]}")
    hold(len(container.read("/api/v1/alerts")["items"]) >= alerts, "alerts are lost after a kill")
    printed = TOKEN.findall(container.log())
    hold(printed == [container.token], "a second first token was printed")
    report.proved("kill -9: page, alerts and token are kept, no second token is made", f"ready after {ready_s:.1f} s")


def _processes(container: Container) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(container.inside("python3", "-c", _PROCESSES))
    return found
