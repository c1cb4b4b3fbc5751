-- The spec's table: every storing that is still a record, of one instant.

-- A run of equal states is its first storing and its last one; the last of a page's latest run stands in its row.
-- name: rows
select p.url, s.fields, s.table_from as stored, p.text, s.id
from states s join pages p on p.id = s.page_id
where s.in_table = 1
union all
select p.url, s.fields, iif(s.id = p.state_id, p.stored_at, s.last_at) as stored, p.text, s.id
from states s join pages p on p.id = s.page_id
where s.in_table = 1 and iif(s.id = p.state_id, p.stored_at, s.last_at) > s.table_from
order by 3, 1, 5;

-- name: last_state
select coalesce(max(id), 0) from states;

-- name: pages_named
select url, id, state_id from pages where url in (select value from json_each(:urls));

-- name: insert_record
insert into states (page_id, first_at, last_at, fields, table_from)
values (:page, :at, :at, :fields, :at);

-- Records that were there before the import.
-- name: delete_before
delete from states where page_id = :page and id <= :last;

-- The last record in the file is the page's latest, and its text the page's.
-- name: show_last
update pages set text = :text, state_id = (select max(id) from states where page_id = pages.id), storings = 1,
  stored_at = :at, etag = null, last_modified = null, validators_hop = null, body_digest = null
where id = :page;
