-- Pictures of renderings and checks. Their files are removed once no row names them.

-- name: keep
insert into pictures (page_id, at, by_check, digest, width, height, bytes, before, difference)
values (:page, :at, :by_check, :digest, :width, :height, :bytes, :compared_with, :difference);

-- name: forget_checked
delete from pictures where page_id = :page and by_check = 1
  and at >= (select min(at) from verdicts where id in {ids :served});

-- name: forget_page
delete from pictures where page_id = :page;

-- name: of_page
select id, at, by_check, digest, width, height, bytes, before, difference
from pictures {index pictures_of_page} where page_id = :page order by id desc limit :limit;

-- name: latest
select digest from pictures {index pictures_of_page} where page_id = :page and at < :before order by id desc limit 1;

-- name: is_kept
select 1 from pictures {index pictures_by_digest} where digest = :digest limit 1;

-- name: all
select distinct digest from pictures;

-- As with texts: pages of which some are too old, or too many.
-- name: crowded
select page_id from pictures {index pictures_of_page} group by page_id
having count(*) > :per_page or (count(*) > 2 and min(at) < :before) limit :limit;

-- Of these pages. The latest two of a page are not too old: they are what people compare.
-- name: prunable
select i.id from {each :pages u} {then pictures i} {index pictures_of_page} on i.page_id = u.value
where (
  select count(*) from pictures n {index pictures_of_page} where n.page_id = i.page_id and n.id > i.id
) >= case when i.at < :before then {least :per_page 2} else :per_page end limit :limit;

-- name: drop
delete from pictures where id in {ids :ids};

-- name: total
select coalesce(sum(bytes), 0) from pictures;

-- name: oldest
select id, bytes from pictures order by id limit :limit;
