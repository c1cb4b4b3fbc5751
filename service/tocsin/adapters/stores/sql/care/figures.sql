-- What is counted every quarter of a minute, over a connection of its own.

-- name: pages
select coalesce(sum(pages), 0) from groups;

-- name: standing
select position, text_bytes, channels from store cross join positions;

-- name: alerts
select kind, coalesce(outcome, '') from alert_marks where position > :after order by position;

-- name: deliveries
select count(*), min(position) from deliveries {index deliveries_by_state} where channel = :channel and state = :state;

-- Digests of a channel: how many of each state, with how many alerts; when the next one is, or was, due.
-- name: bundles
select state, count(*), sum(alerts) from bundles {index bundles_by_state} where channel = :channel group by state;

-- name: digest_due_at
select min(at) from (
  select min(due_at) as at from bundles {index bundles_due} where channel = :channel and state = 'open'
  union all
  select min(due_at) from bundles {index bundles_sealed} where channel = :channel and state = 'sealed'
) few;

-- name: silenced
select count(*) from silenced {index silenced_of_route} where channel = :channel;

-- name: unrouted
select count(*) from unrouted {index unrouted_by_age} where at >= :since;

-- name: published_at
select created_at from alerts where position = :position;

-- name: channel
select disabled, failures from channels where name = :channel;

-- Of the pages that may be rendered: who paused one does not wait for it.
-- name: renders
select count(*), min(r.since) from renders r {index renders_by_age} join pages p on p.id = r.page_id where p.paused = 0;

-- name: questions
select count(*), min(announced_at) from questions {index questions_waiting}
where announced_at is not null and answered_at is null and closed_at is null;
