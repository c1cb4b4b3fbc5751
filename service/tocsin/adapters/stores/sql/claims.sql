-- Claims of shards: which holder may write results, and until when no other one may.

-- name: overlapping
select id, first_shard, last_shard, holder, epoch, until
from claims where first_shard <= :last and last_shard >= :first;

-- The epoch is greater than that of any claim it replaces, so that reusing an id never makes an old claim valid.
-- name: insert
insert into claims (id, first_shard, last_shard, holder, epoch, until)
values (:id, :first, :last, :holder, :epoch, :until)
returning id;

-- name: forget
delete from claims where id in {ids :ids};

-- name: renew
update claims set until = :until where id = :id and epoch = :epoch;

-- name: is_current
select 1 from claims where id = :id and epoch = :epoch;

-- The holder of the store's lock is its only engine: those that claimed before are gone.
-- name: end_leases
update claims set until = 0 where until > 0;
