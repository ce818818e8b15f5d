# The official PostgreSQL with a current Patroni and pgBackRest, all from the PostgreSQL project's packages.
FROM postgres:18.6-bookworm
# python3-etcd needs python3-idna for TLS, but does not depend on it.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends 'patroni=4.*' pgbackrest python3-etcd python3-idna \
    python3-psycopg2 \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -m 750 -o postgres -g postgres /var/lib/pgbackrest
COPY fleet/patroni.yaml fleet/pgbackrest.conf owner.sql /etc/
COPY fleet/backup.sh /usr/local/bin/backup
COPY fleet/recover.sh /usr/local/bin/recover
USER postgres
ENV PATRONICTL_CONFIG_FILE=/etc/patroni.yaml \
    PATRONI_POSTGRESQL_BIN_DIR=/usr/lib/postgresql/18/bin \
    PATRONI_POSTGRESQL_DATA_DIR=/var/lib/postgresql/data \
    PATRONI_POSTGRESQL_LISTEN=0.0.0.0:5432 \
    PATRONI_POSTGRESQL_PGPASS=/tmp/pgpass \
    PATRONI_RESTAPI_LISTEN=0.0.0.0:8008 \
    PATRONI_RESTAPI_CAFILE=/var/lib/postgresql/private/ca.crt \
    PATRONI_RESTAPI_CERTFILE=/var/lib/postgresql/private/tls.pem \
    PATRONI_CTL_CACERT=/var/lib/postgresql/private/ca.crt \
    PATRONI_CTL_CERTFILE=/var/lib/postgresql/private/tls.pem \
    PATRONI_ETCD3_CACERT=/var/lib/postgresql/private/ca.crt \
    PATRONI_ETCD3_CERT=/var/lib/postgresql/private/tls.pem \
    PGSSLMODE=verify-full \
    PGSSLROOTCERT=/var/lib/postgresql/private/ca.crt \
    PGSSLCERT=/var/lib/postgresql/private/tls.pem \
    PGSSLKEY=/var/lib/postgresql/private/tls.pem
EXPOSE 5432 8008
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["python3", "-c", "import os, ssl, urllib.request as web; web.urlopen('https://localhost:8008/health', context=ssl.create_default_context(cafile=os.environ['PGSSLROOTCERT']))"]
ENTRYPOINT []
# PostgreSQL refuses data and a key that others than their owner can read.
CMD ["sh", "-c", "umask 077 && mkdir -p /var/lib/postgresql/private && install -m 600 -t /var/lib/postgresql/private /certificates/* && exec patroni /etc/patroni.yaml"]
