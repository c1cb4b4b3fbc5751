-- What is kept of hosts: gates, robots.txt, and how many pages they have at which schedule.

-- name: gates
select name, gate_at from hosts {index hosts_gated} where gate_at > :now;

-- Pages are redirected to hosts of which none is watched; such a host is kept until its pause is over.
-- name: hold
insert into hosts (name, shard, gate_at, empty) values (:host, :shard, :gate_at, 1)
on conflict (name) do update set gate_at = :gate_at where coalesce(hosts.gate_at, 0) < :gate_at;

-- Hosts that were received lately, to be asked when our own connection is in doubt. Any of them will do, so the number
-- of pages that are read is bounded.
-- name: received_last
select host_id, max(last_set_at) as at from (
  select host_id, last_set_at from pages where next_at is not null and paused = 0 and last_set_at is not null
  limit 200000
) few group by host_id order by at desc limit :limit;

-- name: robots_of
select id, robots from hosts where name = :host;

-- Nodes that are redirected to a host keep robots.txt of it, too: each waits for the one before.
-- name: robots_to_keep
{robots_of} {update hosts};

-- name: keep_robots
update hosts set robots = :robots where id = :id;

-- Settings that are no JSON, as only another program writes them, count as none.
-- name: own
{json settings}

-- A slice of the list at a time: what pages set themselves is in their rows only.
-- name: own_schedules
select distinct {field {own} every}, {field {own} cron} from pages
where id > :after and id <= :last and settings is not null
  and ({field {own} every} is not null or {field {own} cron} is not null);

-- Counted in the schedule index alone.
-- name: crowds
select c.host_id, h.name, c.pages, h.robots
from (
  select d.host_id, count(*) as pages from {schedule d}
  where d.host_id > :after and {scheduled d}
  group by d.host_id having count(*) >= :least order by d.host_id limit :limit
) c {then hosts h} on h.id = c.host_id
order by c.host_id;

-- name: schedules_of
select group_id, {field {own} every}, {field {own} cron}, {field {own} mode}, count(*)
from pages {index pages_due} where host_id = :host and next_at is not null and paused = 0
group by 1, 2, 3, 4;
