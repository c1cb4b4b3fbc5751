-- Hosts with many pages, and how often these are wanted.

-- What is no JSON, as only another program writes it, says nothing here.
-- name: own
{json settings}

-- A piece of the list at a time: what pages set of their own is nowhere but in their rows.
-- name: own_schedules
select distinct {field {own} every}, {field {own} cron} from pages
where id > :after and id <= :last and settings is not null
  and ({field {own} every} is not null or {field {own} cron} is not null);

-- Counted in the schedule index alone.
-- name: crowds
select c.host_id, h.name, c.pages, h.robots
from (
  select host_id, count(*) as pages from pages {index pages_due}
  where host_id > :after and next_at is not null and paused = 0
  group by host_id having count(*) >= :least order by host_id limit :limit
) c cross join hosts h on h.id = c.host_id
order by c.host_id;

-- name: schedules_of
select group_id, {field {own} every}, {field {own} cron}, {field {own} mode}, count(*)
from pages {index pages_due} where host_id = :host and next_at is not null and paused = 0
group by 1, 2, 3, 4;
