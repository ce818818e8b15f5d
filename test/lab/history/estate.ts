import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { digestOf } from '../../../src/access-token/access-token.js';
import { scopes } from '../../../src/app.module.js';
import { eventually } from '../eventually.js';
import { type Direction, LossyProxy } from '../../support/lossy-proxy.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';

/** Milliseconds of a frozen database, or of a broken network: longer than a request waits for it. */
const FROZEN = 3_000;
/** Gives a process another time, which a file says and may change (Debian: libfaketime). */
const FAKETIME = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find(existsSync);

/** Networks: of each instance to the primary, of the standby to the primary, of the reader to the standby. */
const [FIRST, SECOND, REPLICATION, READER] = [0, 1, 2, 3] as const;
const TO_PRIMARY = [FIRST, SECOND, REPLICATION];

/** Does something to the estate. `goOn` resolves when clients have written for a while. */
type Fault = (goOn: () => Promise<void>) => Promise<void>;

/** Two instances on a primary, its synchronous standby, an instance that reads from that, and what befalls them. */
export class Estate {
  /** How often the standby has begun: again, or another one. */
  standbyStarts = 0;
  private services: ServiceProcess[] = [];
  private reader!: ServiceProcess;

  private constructor(
    private primary: PostgresCluster,
    private standby: PostgresCluster,
    private readonly networks: readonly LossyProxy[],
    private readonly ports: readonly number[],
    /** The URL of the database. */
    private readonly url: string,
    /** Holds by how many seconds the clock of the first instance is ahead. */
    private readonly clock: string,
  ) {}

  /** Of the token. */
  static async create(token: string): Promise<Estate> {
    const primary = await PostgresCluster.create();
    const networks = [...TO_PRIMARY, READER].map(() => new LossyProxy(primary.socket));
    const ports = await Promise.all(networks.map((network) => network.listen()));
    const standby = await primary.createStandby(ports[REPLICATION]);
    networks[READER]!.aim(standby.socket);
    const clock = join(await mkdtemp(join(tmpdir(), 'clock-')), 'ahead');
    await writeFile(clock, '+0');
    const estate = new Estate(primary, standby, networks, ports, await primary.createDatabase(), clock);
    await estate.start(token);
    return estate;
  }

  private async start(token: string): Promise<void> {
    this.services = [await this.startInstance(FIRST), await this.startInstance(SECOND)];
    await this.query(
      `insert into access_tokens (id, name, digest, scopes, created_at) values (gen_random_uuid(), 'test', $1, $2, now())`,
      [digestOf(token), scopes.map(({ name }) => name)],
    );
    await this.caughtUp(`select from access_tokens`, 1);
    this.reader = await this.startInstance(READER);
    await this.replicate(true);
  }

  async remove(): Promise<void> {
    for (const service of [...this.services, this.reader]) await service.end('SIGKILL');
    for (const network of this.networks) network.close();
    for (const server of [this.standby, this.primary]) await server.remove();
    await rm(join(this.clock, '..'), { recursive: true });
  }

  get urls(): readonly string[] {
    return this.services.map(({ url }) => url);
  }

  get readerUrl(): string {
    return this.reader.url;
  }

  /** Asks the primary. */
  query<Row extends Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return queryOnce<Row>(this.primary.on(this.url), sql, parameters);
  }

  /** Removes all logs, from the standby too. */
  async empty(): Promise<void> {
    await this.query('truncate time_logs');
    await this.caughtUp('select from time_logs', 0);
  }

  /** Does something while the standby shows nothing new. */
  async withoutReplay(act: () => Promise<void>): Promise<void> {
    await this.standby.query('select pg_wal_replay_pause()');
    await act().finally(() => this.standby.query('select pg_wal_replay_resume()'));
  }

  /** Does something while the standby gets nothing, and no commit waits for it. */
  async withoutReplication(act: () => Promise<void>): Promise<void> {
    await this.replicate(false);
    this.networks[REPLICATION]!.break();
    await act();
  }

  /**
   * The standby takes the place of the primary, which is killed, or which nobody hears any more. Then that is gone, and
   * its successor gets a standby of its own.
   */
  async failOver(goOn: () => Promise<void>, how: 'killed' | 'cut off'): Promise<void> {
    const old = this.primary;
    const networks = TO_PRIMARY.map((index) => this.networks[index]!);
    // First: what a dying server shows its standby may lack.
    for (const network of networks) network.break();
    if (how === 'killed') await old.end('SIGKILL');
    await this.standby.query('select pg_promote()');
    this.primary = this.standby;
    for (const network of networks) {
      network.aim(this.primary.socket);
      // Connections that are cut off stay, and are silent.
      if (how === 'killed') network.cut();
    }
    await goOn().finally(() => old.remove());
    for (const network of networks) network.mend();
    this.standby = await this.primary.createStandby(this.ports[REPLICATION]);
    this.networks[READER]!.aim(this.standby.socket);
    this.networks[READER]!.cut();
    this.standbyStarts++;
    await this.replicate(true);
  }

  /** All that befalls them, by what it is. */
  faults(): (readonly [string, Fault])[] {
    const faults: (readonly [string, Fault])[] = [
      ['an instance is killed', () => this.killInstance()],
      ['the primary is killed', () => this.killPrimary()],
      ['the primary is frozen', () => this.freezePrimary()],
      ['the primary is killed, and the standby promoted', (goOn) => this.failOver(goOn, 'killed')],
      ['the standby is killed', () => this.killStandby()],
      this.breaks('an instance and the primary', FIRST),
      this.breaks('an instance and the primary', FIRST, ['there']),
      this.breaks('an instance and the primary', SECOND, ['back']),
      this.breaks('primary and standby', REPLICATION),
      ['the primary is cut off, and the standby promoted', (goOn) => this.failOver(goOn, 'cut off')],
      this.breaks('primary and standby', REPLICATION, ['there']),
      this.breaks('primary and standby', REPLICATION, ['back']),
    ];
    if (FAKETIME)
      faults.push(['the clock of an instance is an hour ahead, and goes back', () => this.stepClock()]);
    else process.stderr.write('skipped: steps of the clock, for which libfaketime is not installed\n');
    return faults;
  }

  private breaks(what: string, index: number, directions?: readonly Direction[]): readonly [string, Fault] {
    return [
      `the network between ${what} is broken${directions ? ` on the way ${directions.join()}` : ''}`,
      async () => {
        this.networks[index]!.break(directions);
        await delay(FROZEN);
        this.networks[index]!.mend();
      },
    ];
  }

  private async killInstance(): Promise<void> {
    await this.services[FIRST]!.end('SIGKILL');
    this.services[FIRST] = await this.startInstance(FIRST);
  }

  private async killPrimary(): Promise<void> {
    await this.primary.end('SIGKILL');
    await this.primary.start();
  }

  private async freezePrimary(): Promise<void> {
    await this.primary.freeze();
    await delay(FROZEN);
    this.primary.thaw();
  }

  private async killStandby(): Promise<void> {
    await this.standby.end('SIGKILL');
    this.standbyStarts++;
    await this.standby.start();
  }

  private async stepClock(): Promise<void> {
    await writeFile(this.clock, '+3600');
    await delay(FROZEN);
    await writeFile(this.clock, '+0');
  }

  private startInstance(network: number): Promise<ServiceProcess> {
    return startService({
      DATABASE_URL: this.url.replace(/@[^/]+/, `@127.0.0.1:${this.ports[network]}`),
      ...(FAKETIME &&
        network === FIRST && {
          LD_PRELOAD: FAKETIME,
          FAKETIME_TIMESTAMP_FILE: this.clock,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        }),
    });
  }

  /** Has every commit wait for the standby, or none. */
  private async replicate(isSynchronous: boolean): Promise<void> {
    await this.primary.configure({ synchronous_standby_names: isSynchronous ? '*' : null });
    await eventually(async () =>
      expect(await this.primary.query('select sync_state as state from pg_stat_replication')).toEqual([
        { state: isSynchronous ? 'sync' : 'async' },
      ]),
    );
  }

  private async caughtUp(sql: string, rows: number): Promise<void> {
    await eventually(async () => expect(await queryOnce(this.standby.on(this.url), sql)).toHaveLength(rows));
  }
}
