"""Results of checks, made up for the store."""

from __future__ import annotations

from tocsin.model import (
    AlertDraft,
    CheckReport,
    CheckResult,
    DueTime,
    FieldValues,
    NewState,
    PageTask,
    Validators,
    VerdictRow,
)

VERSION_FIELD = 7
_BODY_BYTES = 52_000
_DAY_US = 86_400_000_000
_RULES = {"first": "T40", "unchanged": "T42", "minor": "T47"}
_FIELDS: FieldValues = ("2020-05-01", *(None,) * 4, "2024-02-01T08:30Z", None, "1", None, None, "2021-03-04", None)


def result_of(task: PageTask, version: int, *, changed: bool, alerts: tuple[AlertDraft, ...] = ()) -> CheckResult:
    """What a check of this page comes to so many days after its last one; a page without a state gets its first.

    changed  since the task was made; the page's version field then says the number
    """
    at, before = (task.last.checked_at or 0) + version * _DAY_US, task.state
    fields = before.fields if before is not None else _FIELDS
    verdict = None
    if changed:
        latest = (*fields[:VERSION_FIELD], str(version), *fields[VERSION_FIELD + 1 :])
        shown = [{"stored": None, "fields": dict(enumerate(state))} for state in (fields, latest)]
        data = {"outcome": "minor", "previous": shown[0], "latest": shown[1]}
        verdict = VerdictRow(at, "minor", "other", "T47", "declared", data, awareness=False)
        fields = latest
    # As servers do: another body has another tag and digest, the same has the same.
    validators = (
        task.last.validators if task.last.validators and not changed else Validators(f'"{version}"', None, task.url)
    )
    digest = task.last.body_digest if task.last.body_digest and not changed else f"1:{version:032x}"
    is_equal = before is not None and not changed
    length = task.last.body_bytes if is_equal else _BODY_BYTES
    state = NewState(at, fields, is_equal, validators, digest, body_bytes=length, as_before=is_equal)
    outcome = "first" if before is None else "minor" if changed else "unchanged"
    return CheckResult(
        page_id=task.page_id,
        host_id=task.host_id,
        report=CheckReport(
            task.url,
            outcome,
            rule=_RULES[outcome],
            basis="declared",
            declares=("created", "topper-major"),
            status=200,
            final_url=task.url,
            attempts=1,
            bytes=length + 120,
            elapsed_ms=30 + version,
        ),
        checked_at=at,
        set_at=at,
        due=DueTime(at + _DAY_US, "every 24h (jittered)"),
        order=task.order,
        state=state,
        verdict=verdict,
        alerts=alerts,
        received=True,
        based_on=before.last_at if before is not None else None,
    )
