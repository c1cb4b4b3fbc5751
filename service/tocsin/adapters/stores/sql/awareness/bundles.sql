-- Digests: sealed, given, ended. What a bundle is, its alerts are: no row of `gathered` moves when it ends.

-- name: bundle_row
select b.id, b.channel, b.route, b.key, b.state, b.opened_at, b.due_at, b.alerts, b.sealed_at, b.silenced, b.next_at,
  b.tries, b.error, t.message_id
from bundles b left join digests t on t.bundle = b.id

-- name: to_seal
select id from bundles {index bundles_due}
where channel = :channel and state = 'open' and due_at <= :now order by due_at, id limit :limit;

-- Counted from the digest before: what was silenced while none was open counts, too.
-- name: seal
update bundles set state = 'sealed', sealed_at = :now, next_at = :now, sealed_position = (select position from positions),
  silenced = (
    select count(*) from silenced s {index silenced_of_route}
    where s.channel = bundles.channel and s.route = bundles.route and s.position > coalesce((
      select e.sealed_position from bundles e {index bundles_of_route}
      where e.channel = bundles.channel and e.route = bundles.route and e.key = bundles.key and e.id < bundles.id
        and e.sealed_position is not null order by e.id desc limit 1
    ), 0)
  )
where id = :bundle and state = 'open' returning channel, route, key, alerts;

-- name: drop
delete from bundles where id = :bundle;

-- Of each route and key the oldest alone, so that its digests stay in order.
-- name: to_give
select b.id, b.tries, b.first_try_at, b.last_try_at, b.next_at, b.tried_us, b.sealed_at, t.message_id,
  {bytes t.event}, {bytes t.message}, b.route
from bundles b {index bundles_sealed} left join digests t on t.bundle = b.id
where b.channel = :channel and b.state = 'sealed' and b.next_at <= :now and b.id not in {ids :under_way}
  and not exists (
    select 1 from bundles e {index bundles_sealed}
    where e.channel = b.channel and e.route = b.route and e.key = b.key and e.state = 'sealed' and e.id < b.id
  )
order by b.next_at, b.id limit :limit;

-- name: keep_digest
insert into digests (bundle, message_id, event, message) values (:bundle, :id, :event, :message) on conflict do nothing;

-- name: bundle
{bundle_row} where b.id = :bundle;

-- name: bundles
{bundle_row} where :before is null or b.id < :before order by b.id desc limit :limit;

-- Few are waiting or being sent; most were accepted.
-- name: in_open
{bundle_row} where b.state = 'open' and (:before is null or b.id < :before) order by b.id desc limit :limit;

-- name: in_sealed
{bundle_row} where b.state = 'sealed' and (:before is null or b.id < :before) order by b.id desc limit :limit;

-- name: in_accepted
{bundle_row} where b.state = 'accepted' and (:before is null or b.id < :before) order by b.id desc limit :limit;

-- name: in_dead
{bundle_row} where b.state = 'dead' and (:before is null or b.id < :before) order by b.id desc limit :limit;

-- In the order of the index, not of publishing: thousands are read, a step at a time.
-- name: gathered_of
select g.page_id, g.position, a.created_at, coalesce(m.page_group, ''),
  coalesce(h.name, {field a.event subject}, '')
from gathered g {index gathered_of_bundle} join alerts a on a.position = g.position
  left join alert_marks m on m.position = g.position
  left join pages p on p.id = g.page_id left join hosts h on h.id = p.host_id
where g.bundle = :bundle and (g.page_id, g.position) > (:page, :position)
order by g.page_id, g.position limit :limit;

-- name: events_at
select event from alerts where position in {ids :positions} order by position;

-- name: record_bundle
update bundles set state = case :state when 'waiting' then 'sealed' else :state end, tries = tries + 1,
  first_try_at = coalesce(first_try_at, :at), last_try_at = :at, next_at = coalesce(:next_at, next_at),
  tried_us = :tried_us, error = :error
where id = -:position and state = 'sealed';

-- As for deliveries. One that was not tried since it was sealed or replayed is due from that moment on.
-- name: resume_bundles
update bundles {index bundles_sealed} set
  next_at = :now + case when tries > 0 then {greatest (next_at - last_try_at) 0} else 0 end,
  last_try_at = {least last_try_at :now}
where channel = :channel and state = 'sealed' and case when tries > 0 then last_try_at else next_at end > :now;

-- As for deliveries.
-- name: recover_bundles
update bundles {index bundles_sealed} set next_at = first_try_at
where channel = :name and state = 'sealed' and next_at > :now and first_try_at >= :since;

-- Only to a channel that is still there.
-- name: replay_bundle
update bundles set state = 'sealed', next_at = :now, sealed_at = coalesce(sealed_at, :now), tries = 0,
  first_try_at = null, last_try_at = null, tried_us = 0, error = null,
  sealed_position = coalesce(sealed_position, (select position from positions))
where id = :bundle and state in ('accepted', 'dead')
  and channel in (select a.value from store, {each_name store.channels a}) returning alerts;

-- What a person wants to have now.
-- name: hasten_bundle
update bundles set due_at = case state when 'open' then {least due_at :now} else due_at end,
  next_at = case state when 'sealed' then {least next_at :now} else next_at end
where id = :bundle and state in ('open', 'sealed');

-- name: give_up_bundle
update bundles set state = 'dead', error = :error where id = :bundle and state in ('open', 'sealed')
returning channel, route, key, alerts;

-- name: dead_bundles
select id, alerts from bundles {index bundles_dead} where state = 'dead' and (cast(:channel as text) is null or channel = :channel);

-- name: sealed_of
select 1 from bundles {index bundles_sealed} where channel = :channel and state = 'sealed' limit 1;

-- name: count_gathered
select state, sum(alerts) from bundles {index bundles_by_state} where channel = :name group by state;

-- What left the configuration: digests of a channel that is gone are dead, those of a route that is gone are due.
-- name: end_without_channel
update bundles set state = 'dead', error = :error
where state in ('open', 'sealed') and channel not in (select a.value from store, {each_name store.channels a});

-- name: hasten_without_route
update bundles set due_at = :now where state = 'open' and due_at > :now and route not in {names :routes};

-- Digests that were promised, and are no longer, or that one alert was taken out of.
-- name: drop_empty
delete from bundles where state = 'open' and alerts = 0;

-- An alert that is taken out of a bundle, or out of silence, to go alone.
-- name: apart
select g.channel from gathered g join bundles b on b.id = g.bundle
where g.position = (select position from alerts where id = :id) and (cast(:channel as text) is null or g.channel = :channel)
  and (b.state in ('accepted', 'dead') or (cast(:channel as text) is not null and b.state = 'open'));

-- name: leave_bundle
delete from gathered where position = (select position from alerts where id = :id) and channel = :channel;

-- name: silenced_of
select channel from silenced
where position = (select position from alerts where id = :id) and (cast(:channel as text) is null or channel = :channel);

-- name: end_silence_of
delete from silenced where position = (select position from alerts where id = :id) and channel = :channel;

-- Channels that an alert has a row for.
-- name: channels_of
select channel from deliveries where alert_id = :id
union all select channel from gathered where position = :position
union all select channel from silenced where position = :position;

-- name: alerts_since
select id, position, page_id, type, created_at, event from alerts
where position > :after and created_at >= :since order by position limit :limit;
