-- States: a run of equal ones is a row. The page's latest run has no end; its last storing is in the page's row.

-- name: close_run
update states set last_at = p.stored_at, storings = p.storings
from pages p where p.id = :page and states.id = p.state_id;

-- name: open_run
insert into states (page_id, first_at, fields, digest)
values (:page, :at, :fields, :digest) returning id;

-- name: next_ids
with recursive next (id) as (
  select coalesce(max(id), 0) + 1 from states union all select id + 1 from next limit :count
)
select id from next;

-- The same for many, with ids given and ends known.
-- name: open_runs
insert into states (id, page_id, first_at, fields, digest) values (?, ?, ?, ?, ?);

-- name: close_runs
update states set last_at = ?, storings = ? where id = ?;

-- name: show_run
update pages set state_id = :state, stored_at = :at, storings = 1, body_bytes = coalesce(:body_bytes, body_bytes),
  etag = :etag, last_modified = :last_modified, validators_hop = nullif(:hop, url), body_digest = :digest, room = null,
  declares = :declares
where id = :page;

-- name: run_on
update pages set stored_at = {greatest stored_at :at}, storings = storings + 1, body_bytes = coalesce(:body_bytes, body_bytes),
  etag = :etag, last_modified = :last_modified, validators_hop = nullif(:hop, url), body_digest = :digest
where id = :page;

-- T70: all records of the page but the most recent leave the table.
-- name: retire_older
update states {index states_before} set in_table = 0
where page_id = :page and last_at is not null and in_table = 1;

-- name: delete_older
delete from states {index states_before} where page_id = :page and last_at is not null;

-- name: retire_storings
update states set table_from = p.stored_at
from pages p where p.id = :page and states.id = p.state_id;

-- name: insert_verdict
insert into verdicts (page_id, state_id, at, outcome, reason, rule, basis, data, awareness, digest)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
