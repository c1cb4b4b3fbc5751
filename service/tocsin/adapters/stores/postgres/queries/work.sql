-- Statements of many rows take each column as an array: one statement for a batch.

-- name: noted_same
next_at = r.next_at, next_why = r.next_why, last_checked_at = r.checked_at, last_set_at = r.set_at, last_report = r.report,
  outcome = r.outcome, conditional_run = r.conditional_run, flags = (p.flags & 324) | r.flags,
  saved_bytes = p.saved_bytes + r.saved_bytes, attempts = null, stored_at = r.stored_at, storings = p.storings + 1

-- name: is_as_known
p.id = r.id and p.stored_at = r.based_on and p.next_at = r.was_due and p.question_id is null and p.rule is null and p.standing_answer_id is null

-- What is as known has a place in the schedule, which moves within the statement: a trigger for each row takes longer than
-- the rest of it. The trigger is off until all pages are written. Of each page one row of `due` is changed: who counts
-- these sees a page that had none.
-- name: schedule_off
off as materialized (select set_config('tocsin.schedule', 'off', true))

-- name: as_it_was
returning p.host_id, r.was_due, p.id, p.next_at

-- name: move_due
again as materialized (select set_config('tocsin.schedule', '', true) from (select count(*) from noted) written)
update due d set next_at = n.next_at from again, noted n
where d.host_id = n.host_id and d.next_at = n.was_due and d.id = n.id

-- name: move_due_within
again as materialized (select set_config('tocsin.schedule', '', true) from (select count(*) from noted) written), moved as (
  update due d set next_at = n.next_at from again, noted n
  where d.host_id = n.host_id and d.next_at = n.was_due and d.id = n.id
)

-- name: what_was_written
case when count(*) < ? then coalesce(array_to_json(array_agg(id))::text, '[]') end from noted

-- name: same_columns
unnest(
  ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::integer[], ?::integer[], ?::integer[], ?::bigint[],
  ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]
) r (
  next_at, next_why, checked_at, set_at, report, outcome, conditional_run, flags, saved_bytes, stored_at, id, based_on,
  was_due
)

-- name: anew_columns
unnest(
  ?::text[], ?::text[], ?::text[], ?::bytea[], ?::bigint[],
  ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::integer[], ?::integer[], ?::integer[], ?::bigint[],
  ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]
) r (
  etag, last_modified, hop, digest, body_bytes, next_at, next_why, checked_at, set_at, report, outcome, conditional_run,
  flags, saved_bytes, stored_at, id, based_on, was_due
)

-- name: noted_anew
etag = r.etag, last_modified = r.last_modified, validators_hop = nullif(r.hop, p.url), body_digest = r.digest,
  body_bytes = coalesce(r.body_bytes, p.body_bytes)

-- name: note_same
with {schedule_off}, noted as (
  update pages p set {noted_same}
  from off, {same_columns}
  where {is_as_known} {as_it_was}
), {move_due};

-- name: note_same_anew
with {schedule_off}, noted as (
  update pages p set {noted_same}, {noted_anew}
  from off, {anew_columns}
  where {is_as_known} {as_it_was}
), {move_due};

-- A batch of unchanged checks in one round trip: the parts that its pages were read under are compared and locked in the
-- statement that writes. If one of them was taken, or a page is not as known, it says which pages were written.

-- name: fence
fence as materialized (
  select p.part from parts p join unnest(?::bigint[], ?::bigint[]) h (part, epoch) on p.part = h.part and p.epoch = h.epoch
  order by p.part {share p}
)

-- name: note_same_at_once
with {fence}, {schedule_off}, noted as (
  update pages p set {noted_same}
  from off, {same_columns}
  where {is_as_known} and (select count(*) from fence) = ? {as_it_was}
), {move_due_within}
select {what_was_written};

-- name: note_same_anew_at_once
with {fence}, {schedule_off}, noted as (
  update pages p set {noted_same}, {noted_anew}
  from off, {anew_columns}
  where {is_as_known} and (select count(*) from fence) = ? {as_it_was}
), {move_due_within}
select {what_was_written};

-- name: due_beside_wanted
select d.id from due d join pages p on p.id = d.id
where d.host_id = :host and d.next_at between :shown and :now and p.request_id is null
order by d.next_at limit :limit;
