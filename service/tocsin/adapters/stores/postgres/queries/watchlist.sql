-- Ids come from a sequence: one that was given to a page that is gone is never given again.

-- name: last_id
select case when is_called then last_value else 0 end from pages_id_seq;

-- Both take each column as an array.
-- name: insert_host
insert into hosts (name, shard) select r.name, r.shard from unnest(:host::text[], :shard::bigint[]) r (name, shard)
on conflict (name) do update set empty = 0 where hosts.empty = 1;

-- name: insert_page
with given as materialized (select setval('pages_id_seq', max(id)) from unnest(:id::bigint[]) id)
insert into pages (
  id, key, url, given, host_id, group_id, settings, secrets, text, paused, added_at, next_at, next_why, room
)
select r.id, url_key(r.url), r.url, r.given, h.id, g.id, r.settings, r.secrets, r.text, r.paused, r.now, r.next_at, 'first check',
  decode(repeat('00', 128), 'hex')
from given, unnest(
  :id::bigint[], :url::text[], :given::text[], :host::text[], :group::text[], :settings::text[], :secrets::text[],
  :text::text[], :paused::smallint[], :now::bigint[], :next_at::bigint[]
) r (id, url, given, host, in_group, settings, secrets, text, paused, now, next_at)
join hosts h on h.name = r.host join groups g on g.name = r.in_group;

-- name: by_matching
strpos(p.url, :matching) > 0
