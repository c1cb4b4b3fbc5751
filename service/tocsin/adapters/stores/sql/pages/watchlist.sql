-- The list of pages, and what is set for them.

-- name: known
select p.url from {each_name :urls u} {then pages p} on p.key = url_key(u.value) and p.url = u.value;

-- name: insert_host
insert into hosts (name, shard) values (:host, :shard)
on conflict (name) do update set empty = 0 where hosts.empty = 1;

-- name: group_names
select name from groups;

-- name: rename_group
update groups set name = :name where name = :old;

-- name: insert_group
insert into groups (name) values (:name) on conflict do nothing;

-- Ids are never given twice, not even after a removal.
-- name: last_id
select coalesce((select seq from sqlite_sequence where name = 'pages'), 0);

-- name: insert_page
insert into pages (
  id, key, url, given, host_id, group_id, settings, secrets, text, paused, added_at, next_at, next_why, room
)
values (:id, :key, :url, :given, (select id from hosts where name = :host), (select id from groups where name = :group),
  :settings, :secrets, :text, :paused, :now, :next_at, 'first check', zeroblob(64));

-- Groups as pages come, go and move: (change, group's name) each.
-- name: count_pages
update groups set pages = pages + ? where name = ?;

-- name: groups_of
select g.name from pages p join groups g on g.id = p.group_id where p.id in {ids :ids};

-- Edits are counted, for conditional requests.
-- name: note_edits
insert into edits (page_id, revision) select id, 1 from pages where id in {ids :ids}
on conflict (page_id) do update set revision = edits.revision + 1;

-- name: hosts_named
select id from hosts where name in {names :names};

-- name: row
p.id, p.url, coalesce(p.given, p.url), h.name, g.name,
p.paused, p.text, p.settings, p.next_at, p.next_why, p.last_checked_at, p.last_set_at, p.last_changed_at,
p.outcome, p.last_report, s.fields, p.stored_at, p.question_id, p.secrets, p.flags, p.saved_bytes, y.title, y.outcome, y.short, y.day, y.days

-- name: from
from pages p
join hosts h on h.id = p.host_id
join groups g on g.id = p.group_id
left join states s on s.id = p.state_id
left join summaries y on y.page_id = p.id

-- name: page
select {row} {from} where p.key = url_key(:url) and p.url = :url;

-- name: rows
select {row} {from} where p.id in {ids :ids};

-- name: row_of
select {row} {from} where p.id = :page;

-- The conditions of a filter follow; see `watchlist.conditions`.
-- name: pages
select {row} {from} where p.id > :after

-- name: count
select count(*) from pages p where true

-- name: last_times
select max(last_checked_at), max(stored_at) from pages;

-- Keys alone, for an edit of many pages a step at a time.
-- name: page_ids
select p.id from pages p where p.id > :after and p.id <= :last

-- name: by_urls
p.id in (
  select u.id from {each_name :urls j} {then pages u} on u.key = url_key(j.value) and u.url = j.value
)

-- name: by_group
p.group_id = (select id from groups where name = :group)

-- name: by_host
p.host_id = (select id from hosts where name = :host)

-- name: by_matching
instr(p.url, :matching) > 0

-- name: by_outcome
p.outcome = :outcome

-- name: by_paused
p.paused = :paused

-- name: by_topper
p.declares = 1

-- name: by_with_own
p.settings is not null

-- name: by_shells
p.flags & 128 <> 0

-- name: touched
select id, host_id, question_id, request_id from pages where id in {ids :ids};

-- name: remove
delete from pages where id in {ids :ids};

-- Questions that the removed pages leave empty.
-- name: close_left_questions
update questions set closed_at = :now
where id in {ids :questions} and closed_at is null and not exists (select 1 from pages p where p.question_id = questions.id);

-- name: settings_of
select id, settings, next_at, next_why, coalesce(last_checked_at, added_at) from pages where id in {ids :ids};

-- name: set_settings
update pages set settings = :settings where id = :id;

-- name: set_due
update pages set next_at = :next_at, next_why = :next_why where id = :id;

-- name: set_paused
update pages set paused = :paused where id in {ids :ids} and paused <> :paused;

-- name: want_no_more
update pages set request_id = null where id in {ids :ids} and request_id is not null;

-- name: set_group
update pages set group_id = (select id from groups where name = :group) where id in {ids :ids};

-- name: set_text
update pages set text = :text where id in {ids :ids};

-- name: settings_of_group
select settings from groups where name = :name;

-- name: set_group_settings
update groups set settings = :settings, revision = revision + 1 where name = :name;

-- name: settings_of_all
select settings from store;

-- name: set_all_settings
update store set settings = :settings, settings_revision = settings_revision + 1;

-- The group that every page begins in has the id 1.
-- name: remove_group
delete from groups where name = :name and pages = 0 and id <> 1
and not exists (select 1 from pages p where p.group_id = groups.id);

-- name: groups
select name, pages, settings from groups order by name;

-- name: history
select s.id, s.first_at, coalesce(s.last_at, p.stored_at), case when s.last_at is null then p.storings else s.storings end,
  s.in_table, s.fields
from pages p {then states s} on s.id in (
  select p.state_id union all
  select o.id from states o {index states_before} where o.page_id = p.id and o.last_at is not null
)
where p.key = url_key(:url) and p.url = :url
order by s.id desc limit :limit;

-- name: verdicts
select id, page_id, at, outcome, reason, rule, basis, data, state_id, alert_id, storm_id from verdicts
where page_id = (select id from pages where key = url_key(:url) and url = :url) and state_id in {ids :states}
order by id;

-- The cookies of a page whose steps log in.
-- name: login
select cookies, kept_at from logins where page_id = :page;

-- A page that was removed meanwhile keeps none.
-- name: keep_login
insert into logins (page_id, cookies, kept_at) select id, :cookies, :at from pages where id = :page
on conflict (page_id) do update set cookies = excluded.cookies, kept_at = excluded.kept_at;

-- name: forget_logins
delete from logins where page_id in {ids :ids};

-- Few pages log in: each is looked up, instead of all of a group.
-- name: forget_logins_of_group
delete from logins where exists (
  select 1 from pages p where p.id = logins.page_id and p.group_id = (select id from groups where name = :name)
);

-- name: forget_all_logins
delete from logins;
