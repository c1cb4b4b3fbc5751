-- name: now
(extract(epoch from clock_timestamp()) * 1000000)::bigint

-- name: is_held
select 1 from leases where name = :name and node = :node and epoch = :epoch for share;
