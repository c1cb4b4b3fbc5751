-- The spec's table: every storing that is still a record, of one instant.

-- A run of equal states counts as its first and its last storing; the last one of a page's latest run is in the page's row.
-- name: table_from
coalesce(s.table_from, s.first_at)

-- name: table_until
coalesce(s.last_at, p.stored_at)

-- name: rows
select p.url, s.fields, {table_from} as stored, p.text, s.id
from states s join pages p on p.id = s.page_id
where s.in_table = 1
union all
select p.url, s.fields, {table_until} as stored, p.text, s.id
from states s join pages p on p.id = s.page_id
where s.in_table = 1 and {table_until} > {table_from}
order by 3, 1, 5;

-- name: last_state
select coalesce(max(id), 0) from states;

-- name: pages_named
select p.url, p.id, p.state_id from {each_name :urls u}
{then pages p} on p.key = url_key(u.value) and p.url = u.value;

-- name: insert_record
insert into states (page_id, first_at, last_at, fields, digest)
values (:page, :at, :at, :fields, :digest);

-- Records that were there before the import.
-- name: delete_before
delete from states {index states_before} where page_id = :page and last_at is not null and id <= :last;

-- The last record in the file is the page's latest, and its text the page's.
-- name: show_last
update pages set text = :text, state_id = (select max(s.id) from states s {index states_before} where s.page_id = pages.id and s.last_at is not null), storings = 1,
  stored_at = :at, etag = null, last_modified = null, validators_hop = null, body_digest = null,
  room = null, declares = :declares
where id = :page;

-- name: open_last
update states set last_at = null where id = (select state_id from pages where id = :page);
