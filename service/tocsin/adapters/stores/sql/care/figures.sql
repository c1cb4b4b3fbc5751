-- What is counted every quarter of a minute, over a connection of its own.

-- name: pages
select coalesce(sum(pages), 0) from groups;

-- name: standing
select position, text_bytes, channels from store;

-- name: alerts
select kind, coalesce(outcome, '') from alert_marks where position > :after order by position;

-- name: deliveries
select count(*), min(position) from deliveries {index deliveries_by_state} where channel = :channel and state = :state;

-- name: published_at
select created_at from alerts where position = :position;

-- name: channel
select disabled, failures from channels where name = :channel;

-- Of the pages that may be rendered: who paused one does not wait for it.
-- name: renders
select count(*), min(r.since) from renders r {index renders_by_age} join pages p on p.id = r.page_id where not p.paused;

-- name: questions
select count(*), min(announced_at) from questions {index questions_waiting}
where announced_at is not null and answered_at is null and closed_at is null;
