#!/bin/sh
# backup [full | diff | incr]: saves the server that leads; on any other it does nothing.
set -eu
is_standby=$(psql --no-psqlrc --host "$PATRONI_POSTGRESQL_DATA_DIR/../private" --username postgres \
  --tuples-only --no-align --command 'select pg_is_in_recovery()')
[ "$is_standby" = t ] || exec pgbackrest --stanza=time-logs --type="${1:-incr}" backup
