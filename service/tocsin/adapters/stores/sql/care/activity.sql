-- What happened, five minutes a row.

-- name: since
select at, outcomes, alerts, rendered, wire_bytes, saved_bytes, delays, delivered, late
from activity where at >= :since order by at;

-- name: at
select outcomes, delays from activity where at = :at;

-- name: note
insert into activity (at, outcomes, alerts, rendered, wire_bytes, saved_bytes, delays, delivered, late)
values (:at, :outcomes, :alerts, :rendered, :wire_bytes, :saved_bytes, :delays, :delivered, :late)
on conflict (at) do update set outcomes = excluded.outcomes, alerts = activity.alerts + excluded.alerts,
  rendered = activity.rendered + excluded.rendered, wire_bytes = activity.wire_bytes + excluded.wire_bytes,
  saved_bytes = activity.saved_bytes + excluded.saved_bytes, delays = excluded.delays,
  delivered = activity.delivered + excluded.delivered, late = activity.late + excluded.late;

-- name: keep_findings
insert into findings (one, value) values (1, :value) on conflict (one) do update set value = excluded.value;

-- name: findings
select value from findings where one = 1;

-- name: prune
delete from activity where at < :before;
