-- name: insert
insert into claims (id, first_shard, last_shard, holder, epoch, until)
values (coalesce(:id, nextval('claims_id_seq')), :first, :last, :holder, :epoch, :until)
returning id;

-- A taking of the same shards waits for the transaction that was let through.
-- name: is_current
select 1 from claims where id = :id and epoch = :epoch for share;
