-- Checks asked for by hand.

-- name: insert
insert into requests (created_at, pages) values (:now, 0) returning id;

-- name: grow
update requests set pages = pages + :count where id = :request;

-- All pages but those that the user wants left alone; one that is named is checked all the same.
-- name: next_pages
select id, host_id, request_id from pages
where id > :after and paused = 0 and not (next_at is null and next_why like 'never %') order by id limit :limit;

-- name: these_pages
select id, host_id, request_id from pages where id in {ids :ids};

-- name: want
update pages set request_id = :request where id in {ids :ids};

-- A newer request takes a page over from an older one.
-- name: shrink
update requests set pages = pages - :count where id = :request;

-- name: progress
select done, pages from requests where id = :request;

-- name: reports
select position, report from request_reports where request_id = :request and position > :after order by position limit :limit;

-- name: count_done
update requests set done = done + :count where id = :request returning done, reported;

-- name: forgo
update requests set reported = 0 where id = :request;

-- name: forget_reports
delete from request_reports where request_id = :request and position <= (
  select min(position) + :limit from request_reports where request_id = :request
);

-- name: report
insert into request_reports (request_id, position, report) values (?, ?, ?);

-- name: done
update pages set request_id = null where id in {ids :ids} and +request_id = :request
returning id;

-- name: drop
update pages set request_id = null
where id in (select id from pages {index pages_wanted} where request_id = :request limit :limit);
