-- Signals beside the twelve fields: what is known of pages, their texts, and changes that many pages of a host share.

-- states.signals stays, and stays empty: it costs a byte a row. To drop it rewrites every row, and of a million leaves
-- the table a tenth larger, since its full leaves split.

-- Bits of pages.flags from here on: 32 something else stood in the page's place, and the user was told; 64 it has a row
-- in learnt, so that nobody looks there for those that have none.

-- What is known of a page beside its state; a page that nothing is known of has no row. No reference, as with states.
create table learnt (
  page_id  integer primary key,
  known    blob,                                 -- as codec.write_known packs it
  listed   text,                                 -- JSON {signal: {id of the page that lists it: value}}
  heard    text                                  -- JSON array: keys of noise that the user wants to hear of
) strict;
-- Where a feed or sitemap that is watched no more is looked for.
create index learnt_listed on learnt (page_id) where listed is not null;

-- Watched feeds and sitemaps, each with what it says of other pages until that has been taken over.
create table listings (
  page_id  integer primary key,
  name     text not null,                        -- of the signal: "feed" or "sitemap"
  at       integer not null,                     -- when it was read
  entries  blob,                                 -- what is to be taken over, as codec.write_entries packs it
  to_do    integer not null default 1            -- there is something to be taken over, or its page is gone
) strict;
create index listings_to_do on listings (page_id) where to_do = 1;

-- Texts of pages, each once, whatever page it is of.
create table texts (
  id      integer primary key,
  digest  blob not null unique,
  packed  blob not null
) strict;
-- A page's text as it was at one instant.
create table snapshots (
  id       integer primary key,
  page_id  integer not null,
  at       integer not null,
  text_id  integer not null references texts (id)
) strict;
create index snapshots_of_page on snapshots (page_id, at);
create index snapshots_by_age on snapshots (at);
create index snapshots_of_text on snapshots (text_id);
-- How many bytes all texts take, packed: nobody can go through them all each time.
alter table store add column text_bytes integer not null default 0;
create trigger texts_kept after insert on texts begin
  update store set text_bytes = text_bytes + length(new.packed);
end;
create trigger texts_gone after delete on texts begin
  update store set text_bytes = text_bytes - length(old.packed);
end;
-- A text goes with the last snapshot of it.
create trigger snapshots_gone after delete on snapshots begin
  delete from texts where id = old.text_id and not exists (select 1 from snapshots where text_id = old.text_id);
end;

-- The same change on many pages of a host, told once: a storm.
create table storms (
  id            integer primary key autoincrement,
  host_id       integer not null references hosts (id),
  key           blob not null,                   -- names the change
  outcome       text not null,                   -- of its verdicts: of the one with which it was one
  basis         text not null,
  excerpt       text,                            -- what changed, JSON, as it was told
  opened_at     integer not null,
  runs_until    integer not null,                -- a verdict of the same key until then belongs to it
  announce_at   integer not null,
  announced_at  integer,
  released_at   integer                          -- the user wants an alert for each of its pages
) strict;
create index storms_of_host on storms (host_id, key, runs_until);
create index storms_unannounced on storms (announce_at) where announced_at is null;
alter table verdicts add column storm_id integer;  -- it belongs to this storm, which is told instead of it
create index verdicts_of_storm on verdicts (storm_id, page_id, at) where storm_id is not null;

-- Changes that may become a storm, as long as they count.
create table sightings (
  host_id     integer not null,
  key         blob not null,
  page_id     integer not null,
  at          integer not null,
  runs_until  integer not null,
  verdict_id  integer not null,
  primary key (host_id, key, page_id)
) strict, without rowid;
create index sightings_by_end on sightings (runs_until);

-- What is muted on pages of the host, by its key, as codec.write_host_noise packs it.
alter table hosts add column noise blob;
create index hosts_noisy on hosts (id) where noise is not null;

drop trigger pages_gone;
create trigger pages_gone after delete on pages begin
  delete from states where id = old.state_id;
  delete from states where page_id = old.id and last_at is not null;
  update hosts set empty = 1 where id = old.host_id and not exists (select 1 from pages where host_id = old.host_id);
  delete from learnt where page_id = old.id;
  delete from snapshots where page_id = old.id;
  update listings set entries = null, to_do = 1 where page_id = old.id;
end;
