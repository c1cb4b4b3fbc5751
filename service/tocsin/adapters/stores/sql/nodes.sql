-- Nodes that work on the store, the parts of the hosts, and named leases. Only the database's clock counts.

-- name: now
cast((julianday('now') - 2440587.5) * 86400000000 as integer)

-- An earlier process of this name is gone: its epochs end.
-- name: free_parts_before
update parts set left_at = (select nodes.until from nodes where nodes.node = :node), node = null, epoch = epoch + 1
where node = :node and exists (select 1 from nodes where nodes.node = :node and nodes.until <= {now});

-- name: free_leases_before
update leases set until = 0
where node = :node and exists (select 1 from nodes where nodes.node = :node and nodes.until <= {now});

-- name: forget_long_gone
delete from nodes where until < {now} - 86400000000 and not exists (select 1 from parts where parts.node = nodes.node);

-- name: enter
insert into nodes (node, incarnation, until, said) values (:node, {now}, {now} + :lease, :said)
on conflict (node) do update set incarnation = {greatest (nodes.incarnation + 1) excluded.incarnation},
  until = excluded.until, draining = 0, said = excluded.said
where nodes.until <= {now}
returning incarnation;

-- name: renew_node
update nodes set until = {now} + :lease, said = coalesce(:said, said)
where node = :node and incarnation = :incarnation
returning draining, {now};

-- name: counts
with living as (
  select n.node, count(p.part) as held from nodes n left join parts p on p.node = n.node
  where n.until > {now} and n.draining = 0 group by n.node
)
select (select count(*) from living), (select count(*) from parts),
  (select count(*) from living o join living m on m.node = :node
    where o.held > m.held or (o.held = m.held and o.node < m.node));

-- name: held
select part, epoch from parts where node = :node order by part;

-- name: is_in_force
exists (select 1 from nodes where nodes.node = :node and nodes.incarnation = :incarnation and nodes.until > {now})

-- Conditions on the part's own row alone: PostgreSQL tries them again on a row that another node took meanwhile.
-- name: take_parts
update parts set left_at = coalesce((select nodes.until from nodes where nodes.node = parts.node), left_at),
  node = :node, epoch = epoch + 1
where part in (
  select free.part from parts free
  where (
    free.node is null
    or (:expired = 1 and not exists (select 1 from nodes where nodes.node = free.node and nodes.until > {now}))
  )
    and {is_in_force}
  order by free.part limit :most {lock free}
)
returning part, epoch, ({now} - left_at) / 1000000.0;

-- Rows are locked in order, as those of commits are: neither waits for the other in a circle.
-- name: lock_parts
select part from parts where node = :node order by part {update parts};

-- name: give_back
update parts set node = null, epoch = epoch + 1, left_at = {now}
where node = :node and part in {ids :parts}
  and exists (select 1 from nodes where nodes.node = :node and nodes.incarnation = :incarnation);

-- name: release_all
update leases set until = 0
where node = :node and exists (select 1 from nodes where nodes.node = :node and nodes.incarnation = :incarnation);

-- name: leave
delete from nodes where node = :node and incarnation = :incarnation;

-- name: nodes
select nodes.node, nodes.incarnation, (nodes.until - {now}) / 1000000.0, nodes.draining,
  (select count(*) from parts where parts.node = nodes.node), nodes.said
from nodes order by nodes.node;

-- name: parts_alone
select count(*) from parts where not exists (select 1 from nodes where nodes.node = parts.node and nodes.until > {now});

-- name: drain
update nodes set draining = :draining where node = :node;

-- name: take_lease
insert into leases (name, node, epoch, until) values (:name, :node, 1, {now} + :lease)
on conflict (name) do update set node = excluded.node, epoch = leases.epoch + 1, until = excluded.until
where leases.until <= {now} or leases.node = excluded.node
returning epoch;

-- name: renew_lease
update leases set until = {now} + :lease where name = :name and node = :node and epoch = :epoch;

-- name: release_lease
update leases set until = 0 where name = :name and node = :node and epoch = :epoch;

-- Rows that are read for the transaction that writes under them: a taking waits for its end.
-- name: is_held
select 1 from leases where name = :name and node = :node and epoch = :epoch;

-- name: leases
select name, node, (until - {now}) / 1000000.0 from leases order by name;

-- The epochs of parts, for the transaction that writes under them: a taking waits for its end.
-- name: epochs
select part, epoch from parts where part in {ids :parts} order by part {share parts};

-- The holder of the store's lock is its only engine: nodes that entered before are gone.
-- name: free_all_parts
update parts set node = null, epoch = epoch + 1, left_at = 0 where node is not null;

-- name: forget_nodes
delete from nodes;

-- name: free_leases
update leases set until = 0 where until > 0;
