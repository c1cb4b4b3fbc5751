-- Ids come from a sequence: one that was given to a page that is gone is never given again.

-- name: last_id
select case when is_called then last_value else 0 end from pages_id_seq;

-- name: insert_page
insert into pages (
  id, key, url, given, host_id, group_id, settings, secrets, text, paused, added_at, next_at, next_why, room
)
values (setval('pages_id_seq', :id), url_key(:url), :url, :given, (select id from hosts where name = :host),
  (select id from groups where name = :group), :settings, :secrets, :text, :paused, :now, :next_at, 'first check', decode(repeat('00', 128), 'hex'));

-- name: by_matching
strpos(p.url, :matching) > 0
