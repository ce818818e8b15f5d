#!/bin/sh
# recover MOMENT: sets the files of this server back to a moment, such as '2026-01-31 09:30:00+00', while no Patroni of
# the fleet runs. Patroni then finds a cluster of one server.
set -eu
data=$PATRONI_POSTGRESQL_DATA_DIR
server() { "$PATRONI_POSTGRESQL_BIN_DIR/pg_ctl" --silent --pgdata "$data" --timeout 86400 "$@"; }
# Patroni lets no server lead that is behind what it knows of the cluster. This fails while one leads.
printf 'time-logs\nYes I am aware\n' | patronictl remove time-logs
pgbackrest --stanza=time-logs --delta --type=time --target="$1" --target-action=promote restore
# Patroni would start it as a standby, without an end. Nobody reaches it here.
server start --options "-c listen_addresses='' -c unix_socket_directories='$data' -c port=5432 -c hot_standby=off"
until pg_isready --quiet --host "$data" --port 5432; do
  server status > /dev/null # It has ended if the archive does not reach the moment.
  sleep 1
done
server stop --mode fast
echo recovered
