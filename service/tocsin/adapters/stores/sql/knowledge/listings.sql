-- What feeds and sitemaps say of other pages.

-- name: keep
insert into listings (page_id, name, at, entries) values (?, ?, ?, ?)
on conflict (page_id) do update set name = excluded.name, at = excluded.at, entries = excluded.entries, to_do = 1;

-- name: next
select page_id, name, at, entries, not exists (select 1 from pages p where p.id = l.page_id)
from listings l {index listings_to_do} where to_do = 1 order by page_id limit 1;

-- The watched pages of some entries, but for the listing itself.
-- name: pages_of
select p.id, i.value ->> 1, l.listed
from {each :entries i}
{then pages p} {index pages_by_key} on p.key = url_key(i.value ->> 0) and p.url = i.value ->> 0
left join learnt l on l.page_id = p.id
where p.id <> :source;

-- name: list
insert into learnt (page_id, listed) select id, :listed from pages where id = :page
on conflict (page_id) do update set listed = excluded.listed;

-- Only pages that are due at some time, and whose host did not ask for a rest.
-- name: hurry
update pages set next_at = :at, next_why = :why
where id = :page and next_at > :at and coalesce(next_why, '') not like 'held:%';

-- name: hosts_of
select host_id from pages where id in {ids :pages};

-- name: finish
update listings set entries = null, to_do = 0 where page_id = :page and at = :at;

-- name: listed
select page_id, listed from learnt {index learnt_listed}
where listed is not null and page_id > :after order by page_id limit :limit;

-- name: relist
update learnt set listed = :listed where page_id = :page;

-- name: forget
delete from listings where page_id = :page;
