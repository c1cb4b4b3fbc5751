-- name: pages_of
select p.id, i.value ->> 1, l.listed
from jsonb_array_elements(:entries::jsonb) i (value)
join pages p on p.key = url_key(i.value ->> 0) and p.url = i.value ->> 0
left join learnt l on l.page_id = p.id
where p.id <> :source;
