-- The outbox: alerts in the order of their publishing, and a delivery of each to each channel.

-- Positions are given in the transaction that publishes, which keeps others from it: none is seen before a smaller one.
-- name: reserve
update positions set position = position + :count
returning position, (select channels from store), (select silences from store);

-- name: insert_alert
insert into alerts (id, position, page_id, type, created_at, event, digest)
values (?, ?, ?, ?, ?, ?, ?);

-- One that may be tried at once: nothing older of its page waits. Alerts of no page wait for no other. In quiet hours it
-- waits for their end. The last value is its route.
-- name: insert_delivery
insert into deliveries (channel, position, alert_id, page_id, next_at, held_until, route, is_first)
values (?1, ?2, ?3, ?4, coalesce(cast(?6 as bigint), cast(?5 as bigint)), ?6, ?7, {flag (not exists (
  select 1 from deliveries e {index deliveries_of_page}
  where e.channel = ?1 and e.page_id = ?4 and e.state = 'waiting'
))});

-- name: latest_position
select max(position) from alerts;

-- name: set_channels
update store set channels = :names where channels <> :names;

-- Of each page the oldest alone, those that are due for longest first. What is under way is left out. After the delivery
-- come its alert's digest and what it was made of beside the id, as bytes: a fault can leave what is no text.
-- name: due_deliveries
select d.alert_id, d.channel, d.page_id, d.position, d.tries, d.first_try_at, d.last_try_at, d.next_at, d.tried_us,
  coalesce(d.route, ''), a.digest, a.position, a.page_id, {bytes a.type}, a.created_at, {bytes a.event}
from deliveries d {index deliveries_ready} join alerts a on a.id = d.alert_id
where d.channel = :channel and d.state = 'waiting' and d.is_first = 1 and d.next_at <= :now
  and d.position not in {ids :under_way}
order by d.next_at, d.position limit :limit;

-- While a channel has sealed digests: what is younger than an alert of its page in one of them waits for that digest.
-- name: due_beside_digests
select d.alert_id, d.channel, d.page_id, d.position, d.tries, d.first_try_at, d.last_try_at, d.next_at, d.tried_us,
  coalesce(d.route, ''), a.digest, a.position, a.page_id, {bytes a.type}, a.created_at, {bytes a.event}
from deliveries d {index deliveries_ready} join alerts a on a.id = d.alert_id
where d.channel = :channel and d.state = 'waiting' and d.is_first = 1 and d.next_at <= :now
  and d.position not in {ids :under_way}
  and not exists (
    select 1 from bundles b {index bundles_sealed} join gathered g {index gathered_of_bundle} on g.bundle = b.id
    where b.channel = d.channel and b.state = 'sealed' and g.page_id = d.page_id and g.position < d.position
  )
order by d.next_at, d.position limit :limit;

-- When the digest that a due delivery waits for is tried next, or the first of those that it waits for itself.
-- name: until_digest
(
  select max(e.next_at) from bundles b {index bundles_sealed} join gathered g {index gathered_of_bundle} on g.bundle = b.id
    join bundles e {index bundles_sealed} on e.channel = b.channel and e.route = b.route and e.key = b.key
  where b.channel = d.channel and b.state = 'sealed' and g.page_id = d.page_id and g.position < d.position
    and e.state = 'sealed' and e.id <= b.id
)

-- Due ones that wait for a digest: until when, and which. Until then no look has to find them again.
-- name: behind_digests
select {until_digest}, d.channel, d.position from deliveries d {index deliveries_ready}
where d.channel = :channel and d.state = 'waiting' and d.is_first = 1 and d.next_at <= :now and {until_digest} > :now
limit :most;

-- name: wait_for_digest
update deliveries set next_at = ? where channel = ? and position = ?;

-- name: next_delivery_at
select next_at from deliveries {index deliveries_ready}
where channel = :channel and state = 'waiting' and is_first = 1
order by next_at limit 1;

-- name: record
update deliveries set state = :state, tries = tries + 1, first_try_at = coalesce(first_try_at, :at), last_try_at = :at,
  next_at = coalesce(:next_at, next_at), tried_us = :tried_us, error = :error
where channel = :channel and position = coalesce(:position, (select position from alerts where id = :alert));

-- The clock was set back after these were tried or written: they wait for what was left of their waits then. What quiet
-- hours hold back waits for their end.
-- name: resume_deliveries
update deliveries set
  next_at = :now + case when tries > 0 then {greatest (next_at - last_try_at) 0} else 0 end,
  last_try_at = {least last_try_at :now}
where channel = :channel and position in (
  select position from deliveries {index deliveries_ready}
  where channel = :channel and state = 'waiting' and is_first = 1 and next_at > :now
    and (held_until is null or tries > 0) and case when tries > 0 then last_try_at else next_at end > :now
  limit :limit
);

-- name: channel
select failures, next_at, disabled, error, failed_at, since from channels where name = :name;

-- name: failing_since
select since from channels where name = :name and since is not null;

-- Its channel was down, and is back. What failed before that, or without its channel, keeps its steps: else alerts that
-- are refused for their own sake would bring down a channel each time that it is back.
-- name: recover_deliveries
update deliveries {index deliveries_ready} set next_at = first_try_at
where channel = :name and state = 'waiting' and is_first = 1 and next_at > :now and first_try_at >= :since;

-- The latest alert that went alone, and the latest digest.
-- name: last_accepted
select (
  select last_try_at from deliveries {index deliveries_by_state}
  where channel = :name and state = 'accepted' order by position desc limit 1
), (
  select last_try_at from bundles {index bundles_by_state}
  where channel = :name and state = 'accepted' order by id desc limit 1
);

-- name: count_deliveries
select state, count(*) from deliveries {index deliveries_by_state} where channel = :name group by state;

-- name: save_channel
insert into channels (name, failures, next_at, disabled, error, failed_at, since)
values (:name, :failures, :next_at, :disabled, :error, :failed_at, :since)
on conflict (name) do update set failures = excluded.failures, next_at = excluded.next_at,
  disabled = excluded.disabled, error = excluded.error, failed_at = excluded.failed_at, since = excluded.since;

-- name: alert_row
select a.id, a.position, a.type, a.page_id, coalesce(p.url, {field a.event subject}), a.created_at, a.event,
  (select {array {list d.channel d.state d.tries d.error d.last_try_at}} from deliveries d where d.alert_id = a.id), m.seen_at,
  (
    select {array {list
      g.channel (case when b.state in ('accepted', 'dead') then b.state else 'gathered' end) b.tries b.error b.id b.due_at b.last_try_at
    }}
    from gathered g join bundles b on b.id = g.bundle where g.position = a.position
  ),
  (select {array {list s.channel s.silence}} from silenced s where s.position = a.position)
from alerts a left join pages p on p.id = a.page_id left join alert_marks m on m.position = a.position

-- name: is_dead
(exists (select 1 from deliveries d where d.alert_id = a.id and d.state = 'dead') or exists (
  select 1 from gathered g join bundles b on b.id = g.bundle where g.position = a.position and b.state = 'dead'
))

-- name: alerts
{alert_row}
where (:before is null or a.position < :before)
  and (:dead = 0 or {is_dead})
order by a.position desc limit :limit;

-- name: alerts_of_page
{alert_row}
where a.page_id = (select id from pages where key = url_key(:url) and url = :url) and (:before is null or a.position < :before)
  and (:dead = 0 or {is_dead})
order by a.position desc limit :limit;

-- name: alert
{alert_row} where a.id = :id;

-- name: at_positions
{alert_row} where a.position in {ids :positions};

-- name: after
{alert_row} where a.position > :position order by a.position limit :limit;

-- name: replay_alert
update deliveries set state = 'waiting', next_at = :now, first_try_at = null, tries = 0, tried_us = 0, error = null,
  held_until = null
where alert_id = :id and (cast(:channel as text) is null or channel = :channel);

-- All channels that anything was to be delivered to, whether they are configured still or not: one look for each.
-- name: channels_with_deliveries
with recursive found (channel) as (
  select min(channel) from deliveries
  union all
  select (select min(d.channel) from deliveries d where d.channel > found.channel) from found where found.channel is not null
)
select channel from found where channel is not null;

-- name: count_dead
select count(*) from deliveries {index deliveries_by_state} where channel = :channel and state = 'dead';

-- A step's dead letters of a channel.
-- name: next_dead
select position from deliveries {index deliveries_by_state}
where channel = :channel and state = 'dead' and position > :after order by position limit :limit;

-- name: replay_these
update deliveries set state = 'waiting', next_at = :now, first_try_at = null, tries = 0, tried_us = 0, error = null
where channel = :channel and position in {ids :positions} and state = 'dead';

-- An alert written before the channel was configured has no delivery yet. Its replay, which follows, finds its place.
-- name: deliver_too
insert into deliveries (channel, position, alert_id, page_id, next_at, is_first, state)
select :channel, position, id, case when type in ('tocsin.outage.began.v1', 'tocsin.outage.ended.v1') then 0 else page_id end, :now,
  {flag (page_id is null)}, 'dead'
from alerts where id = :id
  and not exists (select 1 from gathered g where g.position = alerts.position and g.channel = :channel)
on conflict do nothing;

-- The latest alerts about our own connections: outages that began, and ones that ended.
-- name: last_of_outages
select type, created_at, event from alerts {index alerts_of_outages}
where type in ('tocsin.outage.began.v1', 'tocsin.outage.ended.v1') order by position desc limit :limit;

-- What an alert is listed by.
-- name: insert_mark
insert into alert_marks (position, kind, outcome, page_group) values (?, ?, ?, ?);

-- Tests of channels, asked for beside a running service. What was asked for a day ago was answered long ago.
-- name: forget_channel_tests
delete from channel_tests where id in (
  select id from (select * from channel_tests order by id limit 100) few where asked_at < :now - 86400000000
);

-- name: ask_for_channel_test
insert into channel_tests (channel, asked_at) values (:channel, :now) returning id;

-- name: open_channel_tests
select id, channel from channel_tests {index channel_tests_open} where begun_at is null order by id limit :limit;

-- name: begin_channel_test
update channel_tests set begun_at = :now where id = :id and begun_at is null;

-- name: end_channel_test
update channel_tests set ended_at = :now, blames = :blames, error = :error where id = :id;

-- name: channel_test
select begun_at, ended_at, blames, error from channel_tests where id = :id;

-- name: withdraw_channel_test
delete from channel_tests where id = :id and begun_at is null;
