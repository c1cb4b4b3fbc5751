-- What pages say of copies of other pages, what they say to robots, and how many bytes were not sent again.

-- Bits of pages.flags from here on: 1 disallowed and told, 2 not HTML, 4 a rendering is owed, 8 noindex, 16 nofollow.
alter table pages add column body_bytes integer not null default 0;   -- on the wire, of the answer last stored
alter table pages add column saved_bytes integer not null default 0;  -- not sent again: the sum over all 304

-- Copies that a page names: all that it named when it was last read whole.
create table copies (
  page_id   integer not null references pages (id) on delete cascade,
  target    text not null,                       -- the URL that it is a copy of, without fragment
  url       text not null,
  datetime  text,                                -- when the copy was made, as the page says it
  made_at   integer,                             -- the same as an instant
  rel       text,
  kind      text not null,                       -- how the page names it: mset, memento, timemap
  seen_at   integer not null,
  primary key (page_id, target, url)
) strict, without rowid;
-- Newest first, as they are offered; what has no date comes last.
create index copies_by_target on copies (target, made_at desc, url);
