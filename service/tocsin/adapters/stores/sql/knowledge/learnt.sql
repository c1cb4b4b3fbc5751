-- What is known of pages beside their states, and of the noise of hosts.

-- name: know
insert into learnt (page_id, known) values (?, ?) on conflict (page_id) do update set known = excluded.known;

-- Said before or after that: a page that something is known of beside its state says so.
-- name: note_learnt
update pages set flags = flags | 64 where id = :page;

-- A title that is as before is not written.
-- name: note_title
insert into summaries (page_id, title) values (?, ?)
on conflict (page_id) do update set title = excluded.title where {differ summaries.title excluded.title};

-- name: titles_of_pages
select page_id, title from summaries where page_id in {ids :ids};

-- name: learnt_of_pages
select page_id, known, listed, heard from learnt where page_id in {ids :ids};

-- name: noise_of_hosts
select id, noise from hosts {index hosts_noisy}
where noise is not null and id in {ids :hosts};

-- name: names_of_groups
select id, name from groups where id in {ids :groups};

-- name: noise_of
select noise from hosts where id = :host;

-- name: keep_noise
update hosts set noise = :noise where id = :host;

-- name: learnt_of
select p.id, l.known, l.listed, l.heard, h.noise
from pages p join hosts h on h.id = p.host_id left join learnt l on l.page_id = p.id
where p.key = url_key(:url) and p.url = :url;

-- name: noise_of_host
select id, noise from hosts where name = :host;

-- name: heard
select heard from learnt where page_id = :page;

-- A page that was removed meanwhile is not remembered.
-- name: hear
insert into learnt (page_id, heard) select id, :heard from pages where id = :page
on conflict (page_id) do update set heard = excluded.heard;
