-- Lists of alerts that PostgreSQL has to say differently.

-- Without `lateral` it reads all alerts of each dead digest.
-- name: positions_of_dead
select * from (
  select d.position from deliveries d
  where d.state = 'dead' and d.position < :before group by d.position order by d.position desc limit :limit
) few
union
select * from (
  select distinct g.position from bundles b cross join lateral (
    select position from gathered where bundle = b.id and position < :before order by position desc limit :limit
  ) g
  where b.state = 'dead' order by g.position desc limit :limit
) few;
