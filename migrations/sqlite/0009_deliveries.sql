-- One alert that is not accepted holds back its own page alone, and costs nothing while it waits.

-- The oldest waiting delivery of its channel and page: the only one of them that may be tried. Alerts of no page are all first.
alter table deliveries add column is_first integer not null default 0;
-- The microseconds of waiting between tries so far, as far as a try followed them: a time in which no try was made, such as
-- a clock that was set forward or a service that was stopped, brings no alert nearer to being given up.
alter table deliveries add column tried_us integer not null default 0;

update deliveries set tried_us = max(last_try_at - first_try_at, 0)
where state = 'waiting' and tries > 0 and first_try_at is not null;
update deliveries set is_first = 1
where state = 'waiting' and not exists (
  select 1 from deliveries e indexed by deliveries_of_page
  where e.channel = deliveries.channel and e.page_id = deliveries.page_id and e.state = 'waiting' and e.position < deliveries.position
);

drop index deliveries_due;
create index deliveries_ready on deliveries (channel, next_at) where state = 'waiting' and is_first = 1;

-- Where the first delivery of a page leaves the waiting ones, the one that follows is the first, and due at once, also if
-- it was written before the clock was set back. Most have none that follows: they cost one look at an index.
create trigger deliveries_left after update of state on deliveries
when old.state = 'waiting' and old.is_first = 1 and new.state <> 'waiting' and exists (
  select 1 from deliveries e indexed by deliveries_of_page
  where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting'
) begin
  update deliveries set is_first = 1, next_at = min(next_at, coalesce(new.last_try_at, next_at))
  where channel = new.channel and position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting'
  );
end;

-- Where one comes back to them, it may be older than the one that was the first.
create trigger deliveries_back after update of state on deliveries
when old.state <> 'waiting' and new.state = 'waiting' and new.page_id is not null begin
  update deliveries set is_first = position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting'
  )
  where channel = new.channel and position in (
    select new.position
    union all
    select * from (
      select e.position from deliveries e indexed by deliveries_of_page
      where e.channel = new.channel and e.page_id = new.page_id and e.state = 'waiting' order by e.position limit 2
    )
  );
end;

create trigger deliveries_gone after delete on deliveries
when old.state = 'waiting' and old.is_first = 1 and old.page_id is not null begin
  update deliveries set is_first = 1
  where channel = old.channel and position = (
    select min(e.position) from deliveries e indexed by deliveries_of_page
    where e.channel = old.channel and e.page_id = old.page_id and e.state = 'waiting'
  );
end;

-- When the channel failed last, so that its pause can be told apart from a clock that was set back since.
alter table channels add column failed_at integer;
