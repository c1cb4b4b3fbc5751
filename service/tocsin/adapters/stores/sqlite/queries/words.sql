-- Words that pages are found by, 4,096 pages a block.

-- name: add
insert into words (block, word, pages) values (?, ?, ?)
on conflict (block, word) do update set pages = join_places(pages, excluded.pages);

-- name: places
select pages from words where block = :block and word = :word;

-- name: set_places
update words set pages = :pages where block = :block and word = :word;

-- name: drop
delete from words where block = :block and word = :word;

-- Those that begin so.
-- name: beginning
select pages from words where block = ? and word >= ? and word < ?;

-- name: block_before
select max(block) from words where block <= :block;

-- name: block_after
select min(block) from words where block >= :block;

-- name: named
select id, url, given, text from pages where id in (select value from json_each(:ids));
