-- Where the routes send alerts, written in the transaction that publishes them.

-- Of these pages, those that name a route: their own settings do, else their group's, else those of all pages. As joins
-- alone: with `in` the same takes half as long again.
-- name: routes_of_pages
select p.id, coalesce(
  {field p.settings route}, {field g.settings route}, (select {field store.settings route} from store)
) as route
from {each :pages a} {then pages p} on p.id = a.value {then groups g} on g.id = p.group_id
where route is not null;

-- One that was published before: `begin_late` finds its place among its page's.
-- name: insert_late
insert into deliveries (channel, position, alert_id, page_id, next_at, held_until, route, is_first, state)
values (?1, ?2, ?3, ?4, coalesce(cast(?6 as bigint), cast(?5 as bigint)), ?6, ?7, {flag (cast(?4 as bigint) is null)}, 'dead');

-- name: begin_late
update deliveries set state = 'waiting' where channel = ? and position = ?;

-- name: note_routed
delete from unrouted where position = ?;

-- name: gather
insert into gathered (position, channel, bundle, page_id) values (?, ?, ?, ?);

-- name: silence_alert
insert into silenced (position, channel, route, silence) values (?, ?, ?, ?);

-- name: note_unrouted
insert into unrouted (position, at) values (?, ?);

-- name: window
select start_at, taken from rate_windows where channel = :channel and route = :route;

-- name: note_window
insert into rate_windows (channel, route, start_at, taken) values (:channel, :route, :start, :taken)
on conflict (channel, route) do update set start_at = excluded.start_at, taken = excluded.taken;

-- name: open_bundle_of
select id from bundles {index bundles_open}
where channel = :channel and route = :route and key = :key and state = 'open';

-- Bundles of one route follow each other: the latest has the latest occasion.
-- name: last_due_of
select (
  select due_at from bundles {index bundles_of_route}
  where channel = :channel and route = :route and key = :key order by id desc limit 1
);

-- name: open_bundle
insert into bundles (channel, route, key, opened_at, due_at) values (:channel, :route, :key, :now, :due) returning id;

-- name: count_joined
update bundles set alerts = alerts + :joined where id = :bundle;

-- name: silences_in_force
select id, match, from_at, until_at, reason, who, ended_at from silences {index silences_in_force}
where ended_at is null order by id;

-- name: silences
select id, match, from_at, until_at, reason, who, ended_at from silences
where :before is null or id < :before order by id desc limit :limit;

-- name: add_silence
insert into silences (match, from_at, until_at, reason, who) values (:match, :from, :until, :reason, :who)
returning id, match, from_at, until_at, reason, who, ended_at;

-- name: end_silence
update silences set ended_at = :now where id = :silence and ended_at is null;

-- name: silences_revision
select silences from store;
