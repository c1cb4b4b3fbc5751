-- Records of a page that PostgreSQL has to be asked for differently.

-- What is found is joined: looked for with `in`, PostgreSQL reads all states.
-- name: states
select s.id, s.first_at, coalesce(s.last_at, p.stored_at), case when s.last_at is null then p.storings else s.storings end,
  s.in_table, s.fields
from (
  select state_id as id from pages where id = :page union all
  select id from (
    select o.id from states o
    where o.page_id = :page and o.last_at is not null and o.id < :before order by o.id desc limit :limit
  ) few
) found join states s on s.id = found.id join pages p on p.id = :page
where s.id < :before order by s.id desc limit :limit;
