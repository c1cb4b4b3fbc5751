-- Statements of many rows take each column as an array: one statement for a batch.

-- name: noted_same
next_at = r.next_at, next_why = r.next_why, last_checked_at = r.checked_at, last_set_at = r.set_at, last_report = r.report,
  outcome = r.outcome, conditional_run = r.conditional_run, flags = (p.flags & 324) | r.flags,
  saved_bytes = p.saved_bytes + r.saved_bytes, attempts = null, stored_at = r.stored_at, storings = p.storings + 1

-- name: is_as_known
p.id = r.id and p.stored_at = r.based_on and p.question_id is null and p.rule is null and p.standing_answer_id is null

-- name: note_same
update pages p set {noted_same}
from unnest(
  ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::integer[], ?::integer[], ?::integer[], ?::bigint[],
  ?::bigint[], ?::bigint[], ?::bigint[]
) r (next_at, next_why, checked_at, set_at, report, outcome, conditional_run, flags, saved_bytes, stored_at, id, based_on)
where {is_as_known};

-- name: note_same_anew
update pages p set {noted_same}, etag = r.etag, last_modified = r.last_modified, validators_hop = nullif(r.hop, p.url),
  body_digest = r.digest, body_bytes = coalesce(r.body_bytes, p.body_bytes)
from unnest(
  ?::text[], ?::text[], ?::text[], ?::bytea[], ?::bigint[],
  ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::integer[], ?::integer[], ?::integer[], ?::bigint[],
  ?::bigint[], ?::bigint[], ?::bigint[]
) r (
  etag, last_modified, hop, digest, body_bytes, next_at, next_why, checked_at, set_at, report, outcome, conditional_run,
  flags, saved_bytes, stored_at, id, based_on
)
where {is_as_known};

-- name: due_beside_wanted
select d.id from due d join pages p on p.id = d.id
where d.host_id = :host and d.next_at between :shown and :now and p.request_id is null
order by d.next_at limit :limit;
