-- What pages say as data: the latest items of each, and how they changed.

-- A page's microdata as it was read last. No reference, as with states. One that had none when it was checked first has no
-- row but a bit of pages.flags: 256 it had none when it was received first, and no copy of it was ever unwanted. So nothing
-- is known of a page without either, such as one from before this version.
create table items (
  page_id  integer primary key,
  first_at integer not null,                     -- when they were read first as they are
  at       integer not null,                     -- when they were read last
  count    integer not null,
  is_cut   integer not null default 0,           -- there were more than are kept
  body     any,                                  -- digest of the bytes that they were read from, as in pages
  digest   blob not null,                        -- equal items have the same; of those, too, that are not kept
  packed   blob not null                         -- as spec.microdata.packing writes it
) strict;

-- How items changed, as the event told it; each is found by its rendering, and goes with it.
create table item_changes (
  id       integer primary key references renderings (id) on delete cascade,
  page_id  integer not null,
  at       integer not null,
  changes  text not null                         -- JSON
) strict;
create index item_changes_of_page on item_changes (page_id, id);

-- That the latest state of a page has a topper element is a column of its own, and bit 128 of pages.flags means nothing
-- any more: each check writes the flags, and with them it wrote the index anew.
alter table pages add column declares integer not null default 0;
drop index pages_declaring;
update pages set declares = 1, flags = flags & ~128 where flags & 128;
create index pages_declaring on pages (group_id) where declares = 1;

-- Who asks for the hosts of some shards goes through all of them, by id or by revision: it found them for nobody.
drop index hosts_by_shard;

drop trigger pages_gone;
create trigger pages_gone after delete on pages begin
  delete from states where id = old.state_id;
  delete from states where page_id = old.id and last_at is not null;
  update hosts set empty = 1 where id = old.host_id and not exists (select 1 from pages where host_id = old.host_id);
  delete from learnt where page_id = old.id;
  delete from snapshots where page_id = old.id;
  update listings set entries = null, to_do = 1 where page_id = old.id;
  delete from edits where page_id = old.id;
  update questions set pages = pages - 1 where id = old.question_id;
  delete from items where page_id = old.id;
end;
