-- name: begin_pruning
update store set pruned_at = {least :now (coalesce(pruned_at + :most, :now))} returning pruned_at;

-- Forgetting, a few rows at a time. Ids and positions grow with time, so the oldest are found without a search.
-- name: forget_states
delete from states where id in (
  select id from states {index states_of_the_past} where in_table = 0 and last_at < :before limit :limit
);

-- name: forget_verdicts
delete from verdicts where id in (
  select id from (select * from verdicts order by id limit :limit) few
  where at < :before and (awareness = 0 or alert_id is not null)
);

-- name: forget_renderings
delete from renderings where id in (
  select id from (select * from renderings order by id limit :limit) few where started_at < :before
);

-- name: oldest_alerts
select id, position, created_at from alerts order by position limit :limit

-- A channel that is gone from the configuration, or has said that it wants no more, holds nothing back.
-- name: listening_channels
select c.value from store, {each_name store.channels c} where c.value not in (select name from channels where disabled = 1)

-- Up to the first that is wanted still: positions have no gaps.
-- name: forget_alerts
delete from alerts where id in (
  select id from ({oldest_alerts}) few where position < coalesce((
    select min(position) from ({oldest_alerts}) a
    where created_at >= :before
      or exists (select 1 from deliveries d where d.alert_id = a.id and d.state = 'waiting' and d.channel in ({listening_channels}))
      or exists (
        select 1 from gathered g join bundles b on b.id = g.bundle
        where g.position = a.position and b.state in ('open', 'sealed') and g.channel in ({listening_channels})
      )
  ), position + 1)
);

-- Digests that ended, with the last of their alerts.
-- name: forget_bundles
delete from bundles where id in (
  select id from (select * from bundles order by id limit :limit) b
  where state in ('accepted', 'dead') and due_at < :before
    and not exists (select 1 from gathered g {index gathered_of_bundle} where g.bundle = b.id)
);

-- A silence that is over holds nothing back; its alerts keep its number.
-- name: forget_silences
delete from silences where coalesce(ended_at, until_at) < :before;

-- name: forget_rate_windows
delete from rate_windows where start_at < :week_before;

-- name: forget_questions
delete from questions where id in (
  select id from (select * from questions order by id limit :limit) few where closed_at < :before
);

-- What was seen on too few pages to be a storm, and counts no longer.
-- name: forget_sightings
delete from sightings where (host_id, key, page_id) in (
  select host_id, key, page_id from sightings {index sightings_by_end} where runs_until < :now limit :limit
);

-- With the last of its verdicts: pruned, or gone with its page.
-- name: forget_storms
delete from storms where id in (
  select id from (select * from storms order by id limit :limit) s
  where not exists (select 1 from verdicts v {index verdicts_of_storm} where v.storm_id = s.id)
);

-- name: forget_requests
delete from requests where id in (
  select id from (select * from requests order by id limit :limit) q
  where created_at < :asked_before
    and not exists (select 1 from pages p {index pages_wanted} where p.request_id = q.id)
);

-- A host that nothing is kept of any more is private data without a use (T64).
-- name: forget_hosts
delete from hosts where id in (
  select h.id from hosts h {index hosts_empty}
  where h.empty = 1 and not exists (select 1 from pages p where p.host_id = h.id)
    and not exists (select 1 from questions q where q.host_id = h.id)
    and not exists (select 1 from standing_answers r where r.host_id = h.id)
    and not exists (select 1 from storms s where s.host_id = h.id)
    and coalesce(h.gate_at, 0) <= :now
  limit :limit
);

-- name: forget_audit
delete from audit where id in (select id from (select * from audit order by id limit :limit) few where at < :before);

-- name: forget_sessions
delete from sessions where digest in (
  select digest from sessions {index sessions_by_end} where until <= :now limit :limit
);

-- name: forget_answers
delete from answers where key in (
  select key from answers {index answers_by_age} where at <= :day_before limit :limit
);

-- Running jobs are never deleted.
-- name: forget_jobs
delete from jobs where id in (
  select id from jobs {index jobs_by_age} where started_at < :month_before and state <> 'running' limit :limit
);

-- name: forget_activity
delete from activity where at in (select at from activity where at < :week_before limit :limit);
