-- Storms: a change that many pages of a host share, which is told once.

-- name: insert_verdict
insert into verdicts (page_id, state_id, at, outcome, reason, rule, basis, data, awareness, storm_id, digest)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id;

-- The storm that a verdict of this key belongs to, if it is one already.
-- name: running
select id, released_at is not null from storms {index storms_of_host}
where host_id = :host and key = :key and runs_until >= :at order by runs_until desc limit 1;

-- As many pages at most had the same, whether it counts still or not.
-- name: count_seen
select count(*) from (select 1 from sightings where host_id = :host and key = :key limit :limit) few;

-- Verdicts of other pages with the same change. A removed page has no verdict any more.
-- name: seen_elsewhere
select v.id from sightings s
join verdicts v on v.id = s.verdict_id and v.page_id = s.page_id
where s.host_id = :host and s.key = :key and s.page_id <> :page and s.runs_until >= :at limit :limit;

-- name: see
insert into sightings (host_id, key, page_id, at, runs_until, verdict_id)
values (:host, :key, :page, :at, :until, :verdict)
on conflict (host_id, key, page_id) do update set
  at = excluded.at, runs_until = excluded.runs_until, verdict_id = excluded.verdict_id;

-- name: open
insert into storms (host_id, key, outcome, basis, opened_at, runs_until, announce_at)
values (:host, :key, :outcome, :basis, :at, :until, :announce_at) returning id;

-- name: gather
update verdicts set storm_id = :storm where id in {ids :verdicts};

-- name: forget_seen
delete from sightings where host_id = :host and key = :key;

-- Of its verdicts those whose page waits for a rendering for no other reason, and is not being rendered.
-- name: fold
update verdicts as v set awareness = 0
where v.storm_id = :storm and v.awareness = 1 and v.alert_id is null
  and exists (
    select 1 from renders r where r.page_id = v.page_id and r.owed = 0 and r.copy_url is null
      and not exists (select 1 from parts where parts.part = r.part and parts.epoch = r.epoch)
  )
  and not exists (
    select 1 from verdicts o {index verdicts_pending}
    where o.page_id = v.page_id and o.id <> v.id and o.awareness = 1 and o.alert_id is null
  )
returning page_id;

-- name: close_jobs
delete from renders where page_id in {ids :pages};

-- name: go_on
update storms set runs_until = :until where id = :storm and runs_until < :until;

-- name: storm
s.id, h.name, (select count(distinct v.page_id) from verdicts v where v.storm_id = s.id),
(select {array url} from (
  select min(p.url) as url from verdicts v join pages p on p.id = v.page_id where v.storm_id = s.id group by v.page_id
  order by v.page_id limit 10
) few),
s.outcome, s.basis, s.excerpt, s.opened_at,
coalesce((select min(v.at) from verdicts v where v.storm_id = s.id), s.opened_at),
coalesce((select max(v.at) from verdicts v where v.storm_id = s.id), s.opened_at),
s.announce_at, s.announced_at, s.released_at
from storms s join hosts h on h.id = s.host_id

-- name: to_announce
select {storm}
where s.id in (
  select id from storms {index storms_unannounced} where announced_at is null and announce_at <= :now
)
and s.released_at is null
order by s.id;

-- The newest first.
-- name: storms
select {storm} where :before is null or s.id < :before order by s.id desc limit :limit;

-- name: one_storm
select {storm} where s.id = :storm;

-- A storm whose pages were all removed meanwhile is not reported.
-- name: close_empty
delete from storms where id = :storm and not exists (select 1 from verdicts v where v.storm_id = storms.id);

-- name: announce
update storms set announced_at = :now, excerpt = :excerpt where id = :storm and announced_at is null and released_at is null;

-- name: verdicts_of
select v.id, v.page_id, p.url, v.at, v.outcome, v.alert_id, v.awareness = 0
from verdicts v join pages p on p.id = v.page_id
where v.storm_id = :storm and (v.page_id, v.id) > (:page, :after)
order by v.page_id, v.id limit :limit;

-- name: release
update storms set released_at = coalesce(released_at, :now) where id = :storm;

-- A step's pages that no alert was given of yet.
-- name: withheld
select v.page_id, min(v.at), max(case when v.outcome = 'major' then 1 else 0 end) from verdicts v {index verdicts_of_storm}
where v.storm_id = :storm and v.page_id > :after and v.awareness = 0
group by v.page_id order by v.page_id limit :limit;

-- name: count_withheld
select count(*) from verdicts v {index verdicts_of_storm} where v.storm_id = :storm and v.awareness = 0;

-- name: give_awareness
update verdicts set awareness = 1
where storm_id = :storm and page_id in {ids :pages} and awareness = 0;
