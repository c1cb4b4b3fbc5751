-- Words that pages are found by, kept for blocks of 4,096 pages. A row's id is its block's number
-- times words.BLOCK_ROWS, and its own.

-- name: kept_until
select words_until from store;

-- name: keep_until
update store set words_until = :until;

-- name: keep
insert into words (id, entries) values (?, ?);

-- name: one
select entries from words where id = :id;

-- name: rows
select entries from words where id between :first and :last;

-- name: kept
select id, entries from words where id between :first and :last;

-- name: set
insert into words (id, entries) values (:id, :entries) on conflict (id) do update set entries = excluded.entries;

-- name: drop
delete from words where id = :id;

-- The last row before, and the first one after: where blocks are empty, there are none.
-- name: row_before
select max(id) from words where id < :id;

-- name: row_after
select min(id) from words where id >= :id;

-- name: in_block
select id, url, given, text from pages where id >= :first and id < :end order by id;

-- name: named
select id, url, given, text from pages where id in {ids :ids} and id < :until;

-- Pages whose words are not kept yet, and that may have this one: ASCII letters are told from no others here.
-- name: may_have
(url like :like or given like :like or text like :like or instr(url, '%') > 0 or :is_wide and (given is not null or text is not null))

-- name: new_before
select id, url, given, text from pages where id >= :until and id < :before and {may_have} order by id desc;

-- name: new_after
select id, url, given, text from pages where id >= :until and id > :after and {may_have} order by id;
