#!/bin/sh
# Makes the certificates of a fleet, with a CA of its own: certificates.sh [FOLDER]
# A second run keeps the CA and renews all certificates: docker/FLEET.md says how to distribute them. For OpenSSL 3.
set -eu
folder=${1:-$(dirname "$0")/certificates}
# Only the owner can enter the folder. Its files are readable by all, since containers run as other users.
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
umask 022

if [ ! -e ca.key ]; then
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ca.key
  openssl req -x509 -new -key ca.key -out ca.crt -subj '/CN=time-logs' -days 3650 \
    -addext 'keyUsage = critical, keyCertSign'
fi

# Arguments: machine, uses of its certificate, and its names. Key and certificate are one file, replaced atomically.
issue() {
  machine=$1 use=$2
  shift 2
  names=DNS:localhost,IP:127.0.0.1
  for name in "$machine" "$@"; do names=$names,DNS:$name; done
  mkdir -p "$machine"
  cat > request << END
[req]
distinguished_name = name
[name]
[extensions]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = $use
subjectAltName = $names
END
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config request -extensions extensions \
    -subj "/CN=$machine" -days 397 -CA ca.crt -CAkey ca.key -out crt -keyout key 2> log || { cat log >&2; exit 1; }
  cat crt key > "$machine/tls.pem.new"
  mv "$machine/tls.pem.new" "$machine/tls.pem"
  cp ca.crt "$machine/ca.crt"
}

# A balancer's certificate is only for a server: Patroni, etcd and PostgreSQL refuse clients that use it.
for machine in balancer-1 balancer-2; do issue "$machine" serverAuth balancer; done
# Instances connect to PostgreSQL through a balancer, by the balancer's name.
for machine in postgres-1 postgres-2; do issue "$machine" serverAuth,clientAuth balancer; done
issue etcd serverAuth,clientAuth
mkdir -p time-logs
cp ca.crt time-logs/ca.crt
rm -f request crt key log
