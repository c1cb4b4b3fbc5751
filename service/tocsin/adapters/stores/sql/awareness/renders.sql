-- The render queue. A row holds a slot while it carries the epoch in force of its part.

-- A verdict that comes while its page is being rendered leaves the slot where it is: see `close_job`.
-- name: want
insert into renders (page_id, major, since, owed, copy_url) values (:page, :major, :since, :owed, :copy_url)
on conflict (page_id) do update set
  major = {greatest renders.major excluded.major}, since = {least renders.since excluded.since},
  owed = {greatest renders.owed excluded.owed}, copy_url = coalesce(excluded.copy_url, renders.copy_url);

-- name: held
exists (select 1 from parts where parts.part = r.part and parts.epoch = r.epoch)

-- For a page that is paused no request is made (T62): it waits for the end of its pause.
-- name: paused
exists (select 1 from pages p where p.id = r.page_id and p.paused = 1)

-- Each node renders the pages of its own hosts.
-- name: of_ours
exists (select 1 from pages p join hosts h on h.id = p.host_id where p.id = r.page_id and {ours h})

-- name: waiting
select page_id, major, since from renders r {index renders_in_turn}
where coalesce(not_before, 0) <= :now and not {held} and not {paused} and {of_ours}
order by major desc, since, page_id limit :limit;

-- name: oldest_waiting
select page_id, major, since from renders r {index renders_by_age}
where coalesce(not_before, 0) <= :now and not {held} and not {paused} and {of_ours}
order by since, page_id limit 1;

-- name: count_waiting
select count(*) from renders r where coalesce(not_before, 0) <= :now and not {held} and not {paused};

-- name: shards_of
select p.id, h.shard from pages p join hosts h on h.id = p.host_id where p.id in {ids :ids};

-- name: take
update renders as r set part = :part, epoch = :epoch, not_before = null
where page_id in {ids :ids} and not {held} and not {paused} returning page_id;

-- name: taken
select page_id, major, since, owed, copy_url, attempts from renders r
where page_id in {ids :ids}
order by major desc, since, page_id;

-- name: pending
select page_id, id, at, outcome, data, storm_id from verdicts {index verdicts_pending}
where page_id in {ids :ids} and awareness = 1 and alert_id is null
order by page_id, id;

-- name: slot
select part, epoch from renders where page_id = :page;

-- name: release
update renders set part = null, epoch = null, not_before = :not_before, attempts = :attempts
where page_id = :page and part = :part and epoch = :epoch;

-- name: job
select owed, copy_url from renders where page_id = :page;

-- name: pending_of_page
select min(at), max(case when outcome = 'major' then 1 else 0 end) from verdicts {index verdicts_pending}
where page_id = :page and awareness = 1 and alert_id is null;

-- What came while the page was being rendered needs a rendering of its own.
-- name: wait_again
update renders set part = null, epoch = null, not_before = null, attempts = null,
  major = :major, since = coalesce(:since, since), owed = :owed, copy_url = :copy_url
where page_id = :page;

-- name: close_job
delete from renders where page_id = :page;

-- name: answer_verdict
update verdicts set alert_id = :alert where id = :id and page_id = :page;

-- name: verdict_data
select data from verdicts where id = :id;

-- name: insert_rendering
insert into renderings (page_id, started_at, rendering, digest) values (:page, :started_at, :rendering, :digest)
returning id;

-- name: owe
update pages set flags = flags | 4 where id = :page;

-- name: forgive
update pages set flags = flags & ~4 where id = :page;

-- Of the bits in :of, set those in :said and clear the others.
-- name: note_flags
update pages set flags = (flags & ~:of) | :said where id = :page;

-- name: note_set
update pages set last_set_at = {greatest coalesce(last_set_at, 0) :at} where id = :page;

-- Rows without a reason: no verdict, no copy, nothing owed.
-- name: drop_forgiven
delete from renders where page_id = :page and copy_url is null
  and not exists (select 1 from verdicts v where v.page_id = renders.page_id and awareness = 1 and alert_id is null);

-- name: forgive_job
update renders set owed = 0 where page_id = :page;
