-- Texts of pages as they were, each text kept once. Triggers of the schema take a text along with its last snapshot,
-- and count what all of them take.

-- name: last_digest
select t.digest from snapshots s {index snapshots_of_page} join texts t on t.id = s.text_id
where s.page_id = :page order by s.at desc, s.id desc limit 1;

-- name: keep_text
insert into texts (digest, packed) values (:digest, :packed) on conflict (digest) do nothing;

-- name: keep
insert into snapshots (page_id, at, text_id) select :page, :at, id from texts where digest = :digest;

-- name: forget_page
delete from snapshots where page_id = :page;

-- name: of_page
select s.id, s.at, t.digest, length(t.packed)
from pages p join snapshots s {index snapshots_of_page} on s.page_id = p.id join texts t on t.id = s.text_id
where p.key = url_key(:url) and p.url = :url
order by s.at desc, s.id desc limit :limit;

-- name: text_of
select t.packed from snapshots s join texts t on t.id = s.text_id where s.id = :id;

-- name: latest_of
select t.packed from snapshots s {index snapshots_of_page} join texts t on t.id = s.text_id
where s.page_id = :page order by s.at desc, s.id desc limit 1;

-- The text that a page had at an instant, and the one before.
-- name: around
select s.at, t.packed from snapshots s {index snapshots_of_page} join texts t on t.id = s.text_id
where s.page_id = :page and s.at <= :at order by s.at desc, s.id desc limit 2;

-- Pages of which some are too old, or too many; read along one index, without a lookup for pages that have only one.
-- name: crowded
select page_id from snapshots {index snapshots_of_page} group by page_id
having count(*) > :per_page or (count(*) > 1 and min(at) < :before) limit :limit;

-- Of these pages. The latest of a page is not too old, however old it is.
-- name: prunable
select s.id from {each :pages u} {then snapshots s} {index snapshots_of_page} on s.page_id = u.value
where (
  select count(*) from snapshots n {index snapshots_of_page}
  where n.page_id = s.page_id and (n.at > s.at or (n.at = s.at and n.id > s.id))
) >= case when s.at < :before then {least :per_page 1} else :per_page end limit :limit;

-- name: drop
delete from snapshots where id in {ids :ids};

-- name: total
select text_bytes from store;

-- name: limit
update store set text_limit = :total;

-- What is left is for texts of pages that changed.
-- name: is_short
select coalesce(text_bytes >= text_limit / 10 * 9, false) from store;

-- name: oldest
select id from snapshots {index snapshots_by_age}
order by at limit :limit;
