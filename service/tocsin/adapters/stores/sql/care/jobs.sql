-- Work that goes on after its request was answered, and what was asked for once.

-- name: save
insert into jobs (id, kind, who, started_at, state, done, total, ended_at, result, error, node)
values (:id, :kind, :who, :started_at, :state, :done, :total, :ended_at, :result, :error, :node)
on conflict (id) do update set state = excluded.state, done = excluded.done, total = excluded.total,
  ended_at = excluded.ended_at, result = excluded.result, error = excluded.error;

-- name: job
id, kind, who, started_at, state, done, total, ended_at, result, error, node from jobs

-- name: one
select {job} where id = :id;

-- name: latest
select {job} {index jobs_by_age} order by started_at desc, id desc limit :limit;

-- name: interrupt
update jobs set state = 'interrupted', ended_at = :now where state = 'running' and (:all = 1 or node = :node);

-- name: has_lost
select 1 from jobs where state = 'running' and started_at < :before and node not in {names :alive}
union all
select 1 from answers where status = 0 and at < :before and node not in {names :alive}
limit 1;

-- name: interrupt_lost
update jobs set state = 'interrupted', ended_at = :now
where state = 'running' and started_at < :before and node not in {names :alive};

-- name: forget_lost
delete from answers where status = 0 and at < :before and node not in {names :alive};

-- name: ask_to_cancel
update jobs set cancelling = 1 where id = :id and state = 'running';

-- name: to_cancel
select id from jobs where state = 'running' and node = :node and cancelling = 1;

-- Requests without an answer whose process is gone.
-- name: forget_begun
delete from answers where status = 0 and (:all = 1 or node = :node);

-- name: answer
select fingerprint, status, content_type, body, at, location from answers where key = :key and at > :after;

-- One that is older than a day is begun anew.
-- name: begin
insert into answers (key, fingerprint, at, node) values (:key, :fingerprint, :now, :node);

-- name: finish
update answers set status = :status, content_type = :content_type, body = :body, location = :location where key = :key;

-- name: give_up
delete from answers where key = :key;
