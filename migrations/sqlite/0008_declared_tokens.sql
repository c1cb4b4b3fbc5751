-- Tokens that the configuration declares: 1 while it does, 2 once it no longer does; 0 for all others.
alter table tokens add column declared integer not null default 0;
