#!/bin/bash
# Stands in for the entry point of PostgreSQL's image where that cannot be had: what docker/compose.yaml needs of it.
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  find "$PGDATA" /var/run/postgresql \! -user postgres -exec chown postgres '{}' +
  exec gosu postgres "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username=postgres --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD")
  printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  for file in /docker-entrypoint-initdb.d/*.sql; do
    psql --set ON_ERROR_STOP=1 --username=postgres --no-password --no-psqlrc --dbname=postgres --file="$file"
  done
  pg_ctl --wait --mode=fast stop
fi
exec "$@"
