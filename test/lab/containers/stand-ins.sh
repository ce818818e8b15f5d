#!/usr/bin/env bash
# Makes what no registry gives: stand-ins for the images that docker/ names, of Debian's packages and npm's, and the
# command `docker compose`. Takes the folder in which it works; DOCKER_HOST names the engine. What is there stays.
# POSTGRES_ENTRYPOINT may name the docker-entrypoint.sh of docker-library/postgres, where it cannot be downloaded.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$1
export DEBIAN_FRONTEND=noninteractive DOCKER_BUILDKIT=0 DOCKER_CONFIG=$work/config
mkdir -p "$DOCKER_CONFIG/cli-plugins"

# The exact name of an image, of all that docker/ names.
named() { sed -n -E "s#^( +image:|FROM) ($1:[A-Za-z0-9_.-]+).*#\\2#p" docker/Dockerfile docker/compose.yaml docker/fleet/*ockerfile docker/fleet/compose.yaml | head -n 1; }
is_there() { docker image inspect "$1" > /dev/null 2>&1; }
# Builds an image of a Dockerfile on standard input. What it copies is in a folder of that name.
image() {
  mkdir -p "$work/$1"
  docker build --quiet --tag "$2" --file - "$work/$1" > /dev/null
}

# A root of a release of Debian, with the certificates that this machine trusts.
base() {
  is_there "time-logs-base:$1" && return
  local root=$work/$1
  rm -rf "$root"
  debootstrap --variant=minbase --include=ca-certificates "$1" "$root" > "$work/$1.log"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  # A mirror may be a few weeks old.
  echo 'Acquire::Check-Valid-Until "false";' > "$root/etc/apt/apt.conf.d/old-mirror"
  tar -C "$root" -c . | docker import - "time-logs-base:$1" > /dev/null
  rm -rf "$root"
}

# The official image's layout: /usr/local has npm and Corepack, /opt has Yarn.
node_image() {
  local version=${1#*:} folder=$work/node
  version=${version%%-*}
  rm -rf "$folder" && mkdir -p "$folder/usr/local/bin" "$folder/opt"
  npm install --silent --no-save --ignore-scripts --prefix "$folder/package" "node-linux-$(node -p process.arch)@$version"
  mv "$folder"/package/node_modules/node-linux-*/bin/node "$folder/usr/local/bin/node"
  npm install --silent --global --prefix "$folder/usr/local" npm@11 corepack yarn@1
  mv "$folder/usr/local/lib/node_modules/yarn" "$folder/opt/yarn-v1"
  ln -sf /opt/yarn-v1/bin/yarn "$folder/usr/local/bin/yarn"
  ln -sf /opt/yarn-v1/bin/yarnpkg "$folder/usr/local/bin/yarnpkg"
  image node "$1" << 'DOCKERFILE'
FROM time-logs-base:bookworm
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
COPY usr /usr
COPY opt /opt
CMD ["node"]
DOCKERFILE
}

postgres_image() {
  local folder=$work/postgres from=https://raw.githubusercontent.com/docker-library/postgres/master/18/bookworm/docker-entrypoint.sh
  mkdir -p "$folder"
  if [ -n "${POSTGRES_ENTRYPOINT:-}" ]; then cp "$POSTGRES_ENTRYPOINT" "$folder/docker-entrypoint.sh"
  else
    curl --silent --fail --max-time 20 --output "$folder/docker-entrypoint.sh" "$from" \
      || cp test/lab/containers/postgres-entrypoint.sh "$folder/docker-entrypoint.sh"
  fi
  chmod 755 "$folder/docker-entrypoint.sh"
  image postgres "$1" << 'DOCKERFILE'
FROM time-logs-base:testing
RUN groupadd --system --gid 999 postgres \
 && useradd --system --gid postgres --uid 999 --home-dir /var/lib/postgresql --shell /bin/bash postgres \
 && mkdir /etc/postgresql-common && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
 && apt-get update && apt-get install --yes --no-install-recommends postgresql-18 gosu \
 && sed -ri "s!^#?(listen_addresses)\s*=\s*\S+.*!\1 = '*'!" /usr/share/postgresql/18/postgresql.conf.sample \
 && rm -rf /etc/postgresql/* \
 && install --directory --owner postgres --group postgres --mode 1777 /var/lib/postgresql \
 && install --directory --owner postgres --group postgres --mode 3777 /var/run/postgresql \
 && mkdir /docker-entrypoint-initdb.d
ENV LANG=C.UTF-8 PG_MAJOR=18 PATH=$PATH:/usr/lib/postgresql/18/bin PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
COPY docker-entrypoint.sh /usr/local/bin/
ENTRYPOINT ["docker-entrypoint.sh"]
STOPSIGNAL SIGINT
EXPOSE 5432
CMD ["postgres"]
DOCKERFILE
}

haproxy_image() {
  image haproxy "$1" << 'DOCKERFILE'
FROM time-logs-base:bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends haproxy
STOPSIGNAL SIGUSR1
USER haproxy
WORKDIR /var/lib/haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
DOCKERFILE
}

etcd_image() {
  image etcd "$1" << 'DOCKERFILE'
FROM time-logs-base:testing
RUN apt-get update && apt-get install --yes --no-install-recommends etcd-server etcd-client \
 && chown root:root /var/lib/etcd
CMD ["etcd"]
DOCKERFILE
}

base bookworm
base testing
for name in node postgres haproxy quay.io/coreos/etcd; do
  image=$(named "$name")
  is_there "$image" || "${name##*/}_image" "$image"
done

if ! docker compose version > /dev/null 2>&1; then
  id=$(docker create time-logs-base:testing sh -c \
    'cd /tmp && apt-get update -qq && apt-get download -qq docker-compose && dpkg-deb -x *.deb out')
  docker start --attach "$id" > /dev/null
  docker cp "$id:/tmp/out/usr/libexec/docker/cli-plugins/docker-compose" "$DOCKER_CONFIG/cli-plugins/"
  docker rm "$id" > /dev/null
fi
