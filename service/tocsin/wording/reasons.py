"""Why a change is one, as a sentence for each rule. Pure."""

from __future__ import annotations

from tocsin.model import JsonObject
from tocsin.wording.summary import line, number, rows, table
from tocsin.wording.words import Words

_DAY_S = 86_400


def why(words: Words, data: JsonObject, now: str) -> str:
    """Say why a change is major or minor; "" for an event that no rule decided.

    data  of the event; now  its time
    """
    rule = line(data.get("rule"), 40)
    if not rule or data.get("outcome") not in ("major", "minor"):
        return ""
    return " ".join(part for part in (_of_rule(words, rule, data, now), _of_witness(words, data, now)) if part)


def _of_rule(words: Words, rule: str, data: JsonObject, now: str) -> str:
    key, places = rule, dict[str, object]()
    if rule == "T44":
        dates = table(data.get("new_dates")).get("major")
        date = words.day(str(dates[-1]), now) if isinstance(dates, list) and dates else None
        key, places = "T44" if date else "T44_other", {"date": date}
    elif rule == "T45":
        places = {"days": words.number(number(data.get("elapsed_s")) // _DAY_S)}
    elif rule == "T46":
        places = {"n": words.number(number(data.get("minor_count")))}
    elif rule == "T47":
        places = {"fields": ", ".join(line(row.get("field"), 40) for row in rows(data.get("changes"))[:4])}
    elif rule == "S1":
        said = [line(row.get("signal"), 40) for row in rows(data.get("signals")) if row.get("rule") == "S1"]
        places = {"signals": ", ".join(said[:4])}
    elif rule == "S2":
        if data.get("basis") == "contradicted":
            return ""  # the witness says it
        counts = table(table(data.get("difference")).get("lines"))
        changed = sum(number(counts.get(kind)) for kind in ("changed", "added", "removed"))
        total = changed + number(counts.get("unchanged")) + number(counts.get("moved"))
        places = {"changed": words.number(changed), "lines": words.number(total)}
        key = "S2" if changed else "S2_other"
    elif rule == "S4":
        told = next((line(row.get("why")) for row in rows(data.get("trace")) if row.get("rule") == rule), "")
        places = {"rule": told.rpartition("your rule: ")[2] or told}
    if f"why.{key}" not in words:
        key, places = "none", {"rule": rule}
    return words.say(f"why.{key}", **places)


def _of_witness(words: Words, data: JsonObject, now: str) -> str:
    witness = table(data.get("witness"))
    signal = line(witness.get("signal"), 40)
    if not signal:
        return ""
    if signal == "content":
        return words.say("why.witness_content")
    value = line(witness.get("value"), 60)
    key = "why.witness_text" if value else "why.witness_bare"
    return words.say(key, signal=signal, value=words.quote(words.day(value, now) or value))
