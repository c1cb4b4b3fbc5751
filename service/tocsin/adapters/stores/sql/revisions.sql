-- Revisions: how a running engine notices what commands changed.

-- name: latest
select revision from store;

-- Those that write at the same time wait here for each other: PostgreSQL locks the row.
-- name: turn
select position from positions;

-- name: next
update store set revision = revision + 1 returning revision;

-- name: stamp
update hosts set revision = :revision where id in {ids :hosts};

-- name: stamp_all
update hosts set revision = :revision;
