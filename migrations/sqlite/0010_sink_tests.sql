-- Tests of sinks that the command line asks a running service for, so that its network, secret and state are those in force.
create table sink_tests (
  id        integer primary key autoincrement,
  sink      text not null,
  asked_at  integer not null,
  begun_at  integer,
  ended_at  integer,
  blames    text,                                -- whose fault it was that it was not accepted; null: it was
  error     text
) strict;
create index sink_tests_open on sink_tests (id) where begun_at is null;
