-- Tests of channels that the command line asks a running service for, so that its network, secret and state are those in force.
create table channel_tests (
  id        integer primary key autoincrement,
  channel   text not null,
  asked_at  integer not null,
  begun_at  integer,
  ended_at  integer,
  blames    text,                                -- whose fault it was that it was not accepted; null: it was
  error     text
) strict;
create index channel_tests_open on channel_tests (id) where begun_at is null;
