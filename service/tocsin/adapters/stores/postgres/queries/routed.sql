-- name: routes_of_pages
select r.id, r.route from (
  select p.id, coalesce(
    {field p.settings route}, {field g.settings route}, (select {field store.settings route} from store)
  ) as route
  from {each :pages a} join pages p on p.id = a.value join groups g on g.id = p.group_id
) r where r.route is not null;
