-- PostgreSQL's image runs this once, on an empty volume: the service owns its database, and nothing else of the server.
\getenv password DATABASE_PASSWORD
create role time_logs login password :'password';
create database time_logs owner time_logs;
