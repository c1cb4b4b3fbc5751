-- Lists of alerts for people, the latest first: each walks the index of what it is filtered by.

-- name: of_all
select m.position, m.seen_at from alert_marks m where m.position < :before order by m.position desc limit :limit;

-- name: of_unseen
select m.position, m.seen_at from alert_marks m {index marks_unseen}
where m.seen_at is null and m.position < :before order by m.position desc limit :limit;

-- name: of_unseen_outcome
select m.position, m.seen_at from alert_marks m {index marks_unseen_by_outcome}
where m.seen_at is null and m.outcome is not null and m.outcome = :outcome and m.position < :before
order by m.position desc limit :limit;

-- name: of_unseen_group
select m.position, m.seen_at from alert_marks m {index marks_unseen_by_group}
where m.seen_at is null and m.page_group is not null and m.page_group = :group and m.position < :before
order by m.position desc limit :limit;

-- Groups are found one after the other, and each is counted only so far.
-- name: unseen_of_groups
with recursive found (name) as (
  select min(m.page_group) from alert_marks m {index marks_unseen_by_group}
  where m.seen_at is null and m.page_group is not null
  union all
  select (
    select min(m.page_group) from alert_marks m {index marks_unseen_by_group}
    where m.seen_at is null and m.page_group is not null and m.page_group > found.name
  ) from found where found.name is not null
)
select found.name, (
  select count(*) from (
    select 1 from alert_marks m {index marks_unseen_by_group}
    where m.seen_at is null and m.page_group is not null and m.page_group = found.name limit :limit
  ) few
) from found where found.name is not null;

-- As the indexes say it.
-- name: is_problem
m.kind in ('unreachable', 'disallowed', 'suspect', 'outage')

-- name: of_unseen_problems
select m.position, m.seen_at from alert_marks m {index marks_unseen_problems}
where m.seen_at is null and {is_problem} and m.position < :before order by m.position desc limit :limit;

-- name: of_problems
select m.position, m.seen_at from alert_marks m {index marks_of_problems}
where {is_problem} and m.position < :before order by m.position desc limit :limit;

-- name: of_outcome
select m.position, m.seen_at from alert_marks m {index marks_by_outcome}
where m.outcome is not null and m.outcome = :outcome and m.position < :before order by m.position desc limit :limit;

-- name: of_kind
select m.position, m.seen_at from alert_marks m {index marks_by_kind}
where m.kind = :kind and m.position < :before order by m.position desc limit :limit;

-- name: of_group
select m.position, m.seen_at from alert_marks m {index marks_by_group}
where m.page_group is not null and m.page_group = :group and m.position < :before order by m.position desc limit :limit;

-- name: of_page
select a.position, m.seen_at from alerts a {index alerts_by_page} join alert_marks m on m.position = a.position
where a.page_id = :page and a.position < :before order by a.position desc limit :limit;

-- Of each dead digest the latest alone are read, in the order of the index: it may hold 100,000. An alert that several
-- channels did not take is there once.
-- name: positions_of_dead
select * from (
  select d.position from deliveries d {index deliveries_dead}
  where d.state = 'dead' and d.position < :before group by d.position order by d.position desc limit :limit
) few
union
select * from (
  select distinct g.position from bundles b {index bundles_dead} join gathered g {index gathered_in_bundle} on g.bundle = b.id
  where b.state = 'dead' and g.position < :before order by g.position desc limit :limit
) few

-- name: of_dead
select f.position, m.seen_at from ({positions_of_dead}) f join alert_marks m on m.position = f.position
order by f.position desc limit :limit;

-- name: positions_of_digest
select position from gathered {index gathered_in_bundle}
where bundle = :digest and position < :before order by position desc limit :limit

-- name: of_digest
select f.position, m.seen_at from ({positions_of_digest}) f join alert_marks m on m.position = f.position
order by f.position desc;

-- name: alert_after
select position, created_at from alerts where position > :after order by position limit 1;

-- name: positions
select position from alerts where id in {names :ids};

-- name: mark
update alert_marks set seen_at = :now
where position in {ids :positions} and (seen_at is null) = (:now is not null);
