-- Channels and routes that were made at run time, and mutes of channels.

-- name: revision
select saved from store;

-- name: next
update store set saved = saved + 1 returning saved;

-- name: entries
select kind, name, settings, revision, at, who from saved_entries order by kind, place, name;

-- name: mutes
select channel, until_at, at, who from channel_mutes order by channel;

-- name: revision_of
select revision from saved_entries where kind = :kind and name = :name;

-- name: save
insert into saved_entries (kind, name, place, settings, revision, at, who)
values (
  :kind, :name, (select coalesce(max(e.place), 0) + 1 from saved_entries e where e.kind = :kind), :settings, :revision,
  :now, :who
)
on conflict (kind, name) do update set settings = excluded.settings, revision = excluded.revision, at = excluded.at,
  who = excluded.who;

-- name: remove
delete from saved_entries where kind = :kind and name = :name;

-- name: place
update saved_entries set place = :place where kind = 'route' and name = :name;

-- name: mute
insert into channel_mutes (channel, until_at, at, who) values (:name, :until, :now, :who)
on conflict (channel) do update set until_at = excluded.until_at, at = excluded.at, who = excluded.who;

-- name: unmute
delete from channel_mutes where channel = :name;
