-- Lists of questions for people.

-- The most pages first.
-- name: open
select q.id, q.pages from questions q {index questions_by_size}
where q.closed_at is null and (q.pages, q.id) < (:pages, :before) order by q.pages desc, q.id desc limit :limit;

-- name: ended
select q.id, q.closed_at from questions q {index questions_ended}
where q.closed_at is not null and (q.closed_at, q.id) < (:pages, :before) order by q.closed_at desc, q.id desc limit :limit;

-- name: count_waiting
select count(*) from (
  select 1 from questions {index questions_waiting}
  where announced_at is not null and answered_at is null and closed_at is null limit :limit
) few;

-- name: count_renders
select count(*) from (select 1 from renders limit :limit) few;
