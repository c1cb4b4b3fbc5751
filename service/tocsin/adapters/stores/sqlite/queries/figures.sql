-- What is counted every quarter of a minute, over a connection of its own.

-- name: pages
select coalesce(sum(pages), 0) from groups;

-- name: standing
select position, text_bytes, sinks from store;

-- name: alerts
select kind, coalesce(outcome, '') from alert_marks where position > :after order by position;

-- name: deliveries
select count(*), min(position) from deliveries indexed by deliveries_by_state where sink = :sink and state = :state;

-- name: published_at
select created_at from alerts where position = :position;

-- name: sink
select disabled, failures from sinks where name = :sink;

-- name: renders
select count(*), min(since) from renders indexed by renders_by_age;

-- name: questions
select count(*), min(announced_at) from questions indexed by questions_open
where closed_at is null and announced_at is not null;
