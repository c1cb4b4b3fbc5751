-- Microdata of pages: the latest items of each, and how they changed at its renderings. Changes go with their rendering,
-- and all of it with the page.

-- Of equal items only when and of which bytes they were read is new: where a row's size stays, SQLite leaves the pages of
-- a long value alone in which nothing differs.
-- name: keep
insert into items (page_id, first_at, at, count, is_cut, digest, packed)
values (:page, :at, :at, :count, :is_cut, :digest, :packed)
on conflict (page_id) do update set
  first_at = case when items.digest = excluded.digest and items.is_cut = excluded.is_cut then items.first_at else excluded.at end, at = excluded.at,
  count = excluded.count, is_cut = excluded.is_cut, digest = excluded.digest,
  packed = excluded.packed;

-- name: forget
delete from items where page_id = :page;

-- name: forget_changes
delete from item_changes where page_id = :page;

-- Never before the state that is the latest: a rendering that stored it had read the page a moment before.
-- name: keep_changes
insert into item_changes (id, page_id, at, changes)
select :rendering, p.id, {greatest :at coalesce(s.first_at, :at)}, :changes
from pages p left join states s on s.id = p.state_id where p.id = :page;

-- name: forget_bare
update pages set flags = flags & ~:bare where id = :page and flags & :bare <> 0;

-- It was received without items some time after this.
-- name: bare_since
select added_at from pages where id = :page and flags & :bare <> 0;

-- name: latest
select at, digest, packed, count, is_cut, first_at from items where page_id = :page;

-- name: history
select id, at, changes from item_changes {index item_changes_of_page}
where page_id = (select id from pages where key = url_key(:url) and url = :url) and at >= :since
order by id desc limit :limit;

-- name: changes
select id, at, changes from item_changes {index item_changes_of_page}
where page_id = :page and id < :before order by id desc limit :limit;
