-- Who may do what over HTTP, and who did.

-- name: token
t.id, t.name, t.scope, t.created_at, t.expires_at, t.last_used_at, t.revoked_at, t.declared = 1

-- name: tokens
select {token} from tokens t order by t.id;

-- name: any_token
select exists (select 1 from tokens);

-- name: token_of
select {token} from tokens t
where t.digest = :digest and t.revoked_at is null and (t.expires_at is null or t.expires_at > :now);

-- name: token_named
select {token} from tokens t {index tokens_by_name}
where t.name = :name and t.revoked_at is null and (t.expires_at is null or t.expires_at > :now);

-- The latest one that is not revoked.
-- name: token_left
select {token} from tokens t where t.id = (
  select max(o.id) from tokens o {index tokens_by_name} where o.name = :name and o.revoked_at is null
);

-- name: add_token
insert into tokens (name, scope, digest, created_at, expires_at) values (:name, :scope, :digest, :now, :expires_at)
returning id;

-- name: note_use
update tokens set last_used_at = :now where id = :token and coalesce(last_used_at, 0) < :now;

-- name: revoke
update tokens set revoked_at = :now where id = :token;

-- name: any_declared
select exists (select 1 from tokens t where t.declared = 1);

-- name: declared
select t.digest, {token} from tokens t where t.declared = 1 and t.revoked_at is null order by t.id;

-- name: token_with
select t.declared, {token} from tokens t where t.digest = :digest;

-- name: declare
update tokens set name = :name, scope = :scope, declared = 1, expires_at = null, revoked_at = null where id = :token;

-- name: undeclare
update tokens set declared = 2, revoked_at = coalesce(revoked_at, :now) where id = :token;

-- name: end_sessions
delete from sessions where token_id = :token;

-- name: open_session
insert into sessions (digest, token_id, csrf, created_at, until) values (:digest, :token, :csrf, :now, :until);

-- name: session_of
select s.csrf, s.created_at, s.until, {token} from sessions s join tokens t on t.id = s.token_id
where s.digest = :digest and s.until > :now and t.revoked_at is null and (t.expires_at is null or t.expires_at > :now);

-- name: close_session
delete from sessions where digest = :digest;

-- name: end_old_sessions
delete from sessions where until <= :now;

-- name: write_audit
insert into audit (at, who, what, detail, request_id) values (:at, :who, :what, :detail, :request_id);

-- name: audit
select at, who, what, detail, request_id, id from audit where id < :before order by id desc limit :limit;
