-- PostgreSQL's image runs this once, on an empty volume: the service owns its database, and nothing else of the server.
\getenv password DATABASE_PASSWORD
create role time_logs login password :'password';
create database time_logs owner time_logs;
-- Where Prometheus watches: a role that sees what goes on, and no row of anybody.
\getenv watch_password WATCH_PASSWORD
\if :{?watch_password}
  create role watch login password :'watch_password' in role pg_monitor;
\endif
