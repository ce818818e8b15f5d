# A current Patroni beside the official PostgreSQL, both from the PostgreSQL project's packages.
FROM postgres:18.6-bookworm
RUN apt-get update \
 && apt-get install --yes --no-install-recommends 'patroni=4.*' python3-etcd python3-psycopg2 \
 && rm -rf /var/lib/apt/lists/*
COPY fleet/patroni.yaml owner.sql /etc/
USER postgres
ENV PATRONI_POSTGRESQL_BIN_DIR=/usr/lib/postgresql/18/bin \
    PATRONI_POSTGRESQL_DATA_DIR=/var/lib/postgresql/data \
    PATRONI_POSTGRESQL_LISTEN=0.0.0.0:5432 \
    PATRONI_POSTGRESQL_PGPASS=/tmp/pgpass \
    PATRONI_RESTAPI_LISTEN=0.0.0.0:8008
EXPOSE 5432 8008
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["bash", "-c", "exec 3<> /dev/tcp/127.0.0.1/8008 && printf 'GET /health HTTP/1.0\r\n\r\n' >&3 && head -1 <&3 | grep -q ' 200 '"]
ENTRYPOINT []
CMD ["patroni", "/etc/patroni.yaml"]
