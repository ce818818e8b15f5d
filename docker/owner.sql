-- PostgreSQL's image runs this once, on an empty volume: the service owns its database, and nothing else of the server.
\getenv password DATABASE_PASSWORD
create role time_logs login password :'password';
create database time_logs owner time_logs;
-- For Prometheus, if WATCH_PASSWORD is set: a role that can read statistics, but no rows of tables.
\getenv watch_password WATCH_PASSWORD
\if :{?watch_password}
  create role watch login password :'watch_password' in role pg_monitor;
\endif
