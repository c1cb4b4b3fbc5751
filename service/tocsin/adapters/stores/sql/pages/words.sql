-- Words that pages are found by, of their URLs, notes and titles, kept for blocks of 4,096 pages. A row's id is its
-- block's number times words.BLOCK_ROWS, and its own.

-- name: kept_until
select words_until from store;

-- name: keep_until
update store set words_until = :until;

-- name: keep
insert into words (id, entries) values (?, ?);

-- name: these
select id, entries from words where id in {ids :ids};

-- name: rows
select entries from words where id between :first and :last;

-- name: kept
select id, entries from words where id between :first and :last;

-- name: set
insert into words (id, entries) values (?, ?) on conflict (id) do update set entries = excluded.entries;

-- name: drop
delete from words where id = ?;

-- The last row before, and the first one after: where blocks are empty, there are none.
-- name: row_before
select max(id) from words where id < :id;

-- name: row_after
select min(id) from words where id >= :id;

-- What words are made of, with the title that is among them: of a page with a newer one the title before.
-- name: kept_pages
p.id, p.url, p.given, p.text, case when r.page_id is null then y.title else r.title end
from pages p left join summaries y on y.page_id = p.id left join retitled r on r.page_id = p.id

-- name: in_block
select {kept_pages} where p.id >= :first and p.id < :end order by p.id;

-- name: named
select {kept_pages} where p.id in {ids :ids} and p.id < :until;

-- name: retitled
select page_id from retitled order by page_id limit :limit;

-- name: keep_titles
delete from retitled where page_id in {ids :ids};

-- name: retitled_by_block
select page_id / 4096, count(*) from retitled group by page_id / 4096;

-- Pages whose words, or titles, are not kept yet, and that may have this word: ASCII letters are told from no others
-- here.
-- name: may_have
(p.url like :like or p.given like :like or p.text like :like or y.title like :like or instr(p.url, '%') > 0
  or :is_wide and (p.given is not null or p.text is not null or y.title is not null))

-- name: as_now
p.id, p.url, p.given, p.text, y.title from pages p left join summaries y on y.page_id = p.id

-- name: retitled_in
select p.id, p.url, p.given, p.text, y.title from retitled r {then pages p} on p.id = r.page_id
{then summaries y} on y.page_id = r.page_id
where r.page_id >= :first and r.page_id < :end and {may_have};

-- name: new_before
select {as_now} where p.id >= :until and p.id < :before and {may_have} order by p.id desc;

-- name: new_after
select {as_now} where p.id >= :until and p.id > :after and {may_have} order by p.id;
