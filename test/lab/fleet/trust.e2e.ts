import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from 'node:net';
import { connect as connectOverTls } from 'node:tls';
import { beforeAll, expect, it } from '@jest/globals';
import { TimeLogClient } from '../../../libs/time-log-client/src/index.js';
import { eventually } from '../eventually.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { Certificates, fetchOver, type Identity } from './certificates.js';
import { Clients, UNNOTICED } from './clients.js';
import { describeWith } from '../describe-with.js';
import { type Instance, PROGRAMS, TOKEN, useFleet } from './fleet.js';

const NEW_TOKEN = 'another-token-that-the-deployment-declares';
/** The bytes by which a client of PostgreSQL asks for TLS. */
const TLS_PLEASE = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describeWith(...PROGRAMS)('a fleet that trusts certificates, behind two balancers', () => {
  const fleet = useFleet();
  /** Has the CA, and nothing to show. */
  let stranger: Identity;
  /** Has the certificate of a balancer. */
  let balancer: Identity;
  let database: Identity;
  /** The certificates that instances now use. */
  let token = TOKEN;
  let login = {};

  beforeAll(async () => {
    stranger = await fleet.certificates.identity();
    balancer = await fleet.certificates.identity('balancer-1');
    database = await fleet.certificates.identity('postgres-1');
  });

  /** One after the other; the one that reads meanwhile. */
  const replaceInstances = async () => {
    const replace = async (instances: readonly Instance[]) => {
      for (const instance of instances) await instance.replace();
    };
    await Promise.all([replace(fleet.instances), replace([fleet.reader])]);
  };
  /** Reads the table past the balancers. */
  const expectNothingLost = async (clients: Clients) => {
    const { primary } = await fleet.postgres.whole();
    await clients.expectNothingLost(fleet.postgres.url(primary.port, login));
  };

  it('has Patroni change nothing for those who have no certificate of a database', async () => {
    const { primary, standby } = await fleet.postgres.whole();
    const url = `https://127.0.0.1:${primary.restPort}`;
    const changes = [
      ['PATCH', 'config', { pause: true }],
      ['POST', 'switchover', { leader: primary.name, candidate: standby.name }],
      ['POST', 'restart', {}],
    ] as const;
    for (const [method, path, body] of changes) {
      const change = { method, body: JSON.stringify(body) };
      const answer = await fetchOver(stranger)(`${url}/${path}`, change);
      expect([answer.status, await answer.text()]).toEqual([403, 'client certificate required']);
      await expect(fetchOver(balancer)(`${url}/${path}`, change)).rejects.toThrow(/alert/);
      await expect(fetch(`${url.replace('https', 'http')}/${path}`, change)).rejects.toThrow('fetch failed');
    }
    const same = { method: 'PATCH', body: JSON.stringify({ loop_wait: 5 }) };
    expect((await fetchOver(database)(`${url}/config`, same)).status).toBe(200);
  });

  it('has an etcd that only databases can read', async () => {
    const url = `https://127.0.0.1:${fleet.postgres.etcdPort}/v2/keys/?recursive=true`;
    for (const identity of [stranger, balancer])
      await expect(fetchOver(identity)(url)).rejects.toThrow(/alert|socket hang up|ECONNRESET/);
    await expect(fetch(url.replace('https', 'http'))).rejects.toThrow('fetch failed');
    const answer = await fetchOver(database)(url);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('time-logs')]);
  });

  it('has PostgreSQL let nobody in without TLS, and no superuser or standby without a certificate', async () => {
    const url = fleet.databaseUrl;
    const as = (role: string, text = url) => text.replace('time_logs:a-password-of-the-test', role);
    const shows = (folder: string) => {
      const file = join(fleet.certificates.of(folder), 'tls.pem');
      return `&sslcert=${file}&sslkey=${file}`;
    };
    const enter = (text: string) => queryOnce(text, 'select current_user as name');
    await expect(enter(url.replace(/[?].*/, ''))).rejects.toThrow('no encryption');
    for (const role of ['postgres', 'postgres:a-password-of-the-test', 'replicator']) {
      await expect(enter(as(role))).rejects.toThrow('valid client certificate');
      await expect(enter(as(role) + shows('balancer-1'))).rejects.toThrow();
    }
    await expect(enter(as('time_logs:wrong'))).rejects.toThrow('password authentication failed');
    expect(await enter(as('postgres') + shows('postgres-2'))).toEqual([{ name: 'postgres' }]);
    // A server with a certificate of another CA is not trusted.
    const others = await Certificates.make(`${fleet.certificates.of('')}others`);
    await expect(enter(others.verified(url.replace(/[?].*/, '')))).rejects.toThrow('certificate');

    const { primary } = await fleet.postgres.whole();
    const sessions = await primary.query<{ usename: string; ssl: boolean }>(
      'select distinct usename, ssl from pg_stat_activity join pg_stat_ssl using (pid) where usename is not null',
    );
    expect(sessions).toEqual(
      expect.arrayContaining(['replicator', 'time_logs'].map((usename) => ({ usename, ssl: true }))),
    );
    expect(sessions.filter(({ ssl }) => !ssl)).toEqual([]);
  });

  it('gets another password of its database, and another token, while everybody creates', async () => {
    const before = new Clients(fleet, token);
    const { primary } = await fleet.postgres.whole();
    const effect = await before.through(async () => {
      await primary.query(`create role time_logs_2 login password 'another' in role time_logs`);
      await primary.query('alter role time_logs_2 set role time_logs');
      login = { role: 'time_logs_2', password: 'another' };
      for (const instance of fleet.all) {
        const port = instance === fleet.reader ? fleet.ports.standby : fleet.ports.primary;
        instance.settings.DATABASE_URL = fleet.postgres.url(port, { ...login, host: 'balancer' });
        instance.settings.ACCESS_TOKEN = `${TOKEN},${NEW_TOKEN}`;
      }
      await replaceInstances();
      await primary.query('alter role time_logs nologin');
    });
    expect(effect).toMatchObject(UNNOTICED);
    await before.stop();
    expect((await fleet.ask('/health', { token })).status).toBe(200);

    token = NEW_TOKEN;
    const now = new Clients(fleet, token);
    const last = await now.through(async () => {
      for (const { settings } of fleet.all) settings.ACCESS_TOKEN = NEW_TOKEN;
      await replaceInstances();
    });
    expect(last).toMatchObject(UNNOTICED);
    await expect(queryOnce(fleet.databaseUrl, 'select')).rejects.toThrow('not permitted to log in');
    expect((await fleet.ask('/health')).status).toBe(401);
    await now.stop();
    for (const clients of [before, now]) await expectNothingLost(clients);
  });

  it('gets other certificates while everybody creates', async () => {
    const serials = () =>
      Promise.all([
        ...['127.0.0.1', '127.0.0.2'].map((host) => serialAt(fleet.ports.requests, stranger, { host })),
        ...fleet.postgres.members.flatMap(({ port, restPort }) => [
          serialAt(port, stranger, { first: TLS_PLEASE }),
          serialAt(restPort, stranger),
        ]),
        serialAt(fleet.postgres.etcdPort, database),
      ]);
    const clients = new Clients(fleet, token);
    const before = await serials();
    const effect = await clients.through(async () => {
      await fleet.certificates.renew();
      for (const member of fleet.postgres.members) {
        await member.takeCertificate();
        expect((await member.ask('reload', { method: 'POST' })).status).toBe(202);
      }
      for (const process of fleet.balancers) process.signal('SIGUSR2');
      await eventually(async () => {
        const old = new Set(before);
        expect((await serials()).filter((serial) => old.has(serial))).toEqual([]);
      });
      // A server that still used an old certificate would be down by now.
      await clients.withKeys.writers.acknowledge(200);
      await fleet.postgres.whole();
    });
    expect(effect).toMatchObject(UNNOTICED);
    await clients.stop();
    await expectNothingLost(clients);
  });

  it('reads from the primary while the standby is far behind', async () => {
    const { primary, standby } = await fleet.postgres.whole();
    const projectId = crypto.randomUUID();
    await standby.withoutReplay(async () => {
      await fleet.create(projectId, { token });
      await primary.query(
        `select pg_logical_emit_message(false, 'filler', repeat('x', 1000000)) from generate_series(1, 20)`,
      );
      await eventually(async () => expect(await fleet.totalOf(projectId, { token })).toBe(1));
    });
    await eventually(async () =>
      expect((await fetch(`http://127.0.0.1:${fleet.reader.port}/readyz`)).status).toBe(200),
    );
  });

  it('loses nothing of clients that know both balancers, where one is killed', async () => {
    const clients = new Clients(fleet, token);
    const shipped = new TimeLogClient({ baseUrl: fleet.urls, token, fetch: fetchOver(stranger) });
    const projectId = crypto.randomUUID();
    const record = () =>
      shipped.record({ projectId, duration: 1, date: '2026-01-31', description: crypto.randomUUID() });
    const recorded = [await record()];
    const effect = await clients.through(async () => {
      await clients.withKeys.writers.acknowledge(100);
      const recording = record();
      await fleet.balancers[0]!.killWithChildren();
      recorded.push(await recording, await record());
      await clients.withKeys.writers.acknowledge(100);
    });
    process.stderr.write(`a balancer is killed: ${JSON.stringify(effect)}\n`);
    await expect(fleet.ask('/health')).rejects.toThrow('ECONNREFUSED');
    await clients.stop();
    expect(clients.withKeys.ledger.unknown.size).toBe(0);
    await expectNothingLost(clients);
    await eventually(async () => {
      const { data } = await shipped.listPage({ projectId });
      expect(data.map(({ id }) => id).sort()).toEqual(recorded.map(({ id }) => id).sort());
    });
  });
});

/** The serial number of the certificate that is shown at a port. */
async function serialAt(
  port: number,
  identity: Identity,
  { host = '127.0.0.1', first }: { readonly host?: string; readonly first?: Buffer } = {},
): Promise<string> {
  const socket = connect(port, host);
  await once(socket, 'connect');
  if (first) {
    socket.write(first);
    await once(socket, 'data');
  }
  const secure = connectOverTls({ ...identity, socket, servername: 'localhost' });
  await once(secure, 'secureConnect');
  const { serialNumber } = secure.getPeerCertificate();
  secure.destroy();
  return serialNumber;
}
