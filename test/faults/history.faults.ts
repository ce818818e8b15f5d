import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf, newToken } from '../../src/access-token/token-text.js';
import { scopes } from '../../src/app.module.js';
import { Chronicle } from '../history/chronicle.js';
import { type Answer, contradictions } from '../history/contradictions.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { BreakableNetwork, type Direction } from './support/breakable-network.js';
import { eventually } from './support/eventually.js';
import { timesOf } from './support/extent.js';
import { PostgresCluster, queryOnce } from './support/postgres-cluster.js';

const ROUNDS = timesOf(8, 1);
/** Writes that somebody is told of between two faults. */
const QUIET = 150;
/** Milliseconds of a frozen database, or of a broken network: longer than a request waits for it. */
const FROZEN = 4_000;
/** Gives a process another time, which a file says and may change (Debian: libfaketime). */
const FAKETIME = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find(existsSync);
const LIMIT = 120_000 + ROUNDS * 120_000;

describe('what clients of two instances are told', () => {
  const token = newToken();
  let primary: PostgresCluster;
  let standby: PostgresCluster;
  let standbyStarts = 0;
  /** Between each instance and the primary, and then between the primary and the standby. */
  let networks: BreakableNetwork[];
  let url: string;
  /** Of the two instances. */
  let urls: string[];
  /** Holds by how many seconds the clock of the first instance is ahead. */
  let clock: string;
  let onStandby: string;
  let services: ServiceProcess[];
  let reader: ServiceProcess;

  beforeAll(async () => {
    primary = await PostgresCluster.create();
    networks = [0, 1, 2].map(() => new BreakableNetwork(primary.socket));
    const ports = await Promise.all(networks.map((network) => network.listen()));
    standby = await primary.createStandby(ports[2]);
    url = await primary.createDatabase();
    urls = ports.slice(0, 2).map((port) => url.replace(/@[^/]+/, `@127.0.0.1:${port}`));
    clock = join(primary.place, 'clock');
    await writeFile(clock, '+0');
    services = [await start(0), await start(1)];
    await queryOnce(
      url,
      `insert into access_tokens (id, name, digest, scopes, created_at) values (gen_random_uuid(), 'test', $1, $2, now())`,
      [digestOf(token), scopes.map(({ name }) => name)],
    );
    onStandby = url.replace(/@[^/]+/, /@[^/]+/.exec(standby.url)![0]);
    await eventually(async () =>
      expect(await queryOnce(onStandby, 'select from access_tokens')).toHaveLength(1),
    );
    reader = await startService({ DATABASE_URL: onStandby });
  });
  afterAll(async () => {
    for (const service of [...services, reader]) await service.end('SIGKILL');
    for (const network of networks) network.close();
    await standby.remove();
    await primary.remove();
  });

  // Each looks at its own logs alone.
  beforeEach(async () => {
    await queryOnce(url, 'truncate time_logs');
    await eventually(async () => expect(await queryOnce(onStandby, 'select from time_logs')).toEqual([]));
  });

  let following: Chronicle | undefined;
  afterEach(() => following?.stopFollowing());

  const start = (index: number) =>
    startService({
      DATABASE_URL: urls[index]!,
      ...(FAKETIME &&
        index === 0 && {
          LD_PRELOAD: FAKETIME,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        }),
    });
  const breaks = (what: string, index: number, directions?: readonly Direction[]) =>
    [
      `the network between ${what} is broken${directions ? ` on the way ${directions.join()}` : ''}`,
      async () => {
        networks[index]!.break(directions);
        await delay(FROZEN);
        networks[index]!.mend();
      },
    ] as const;
  const faults: (readonly [string, () => Promise<void>])[] = [
    [
      'an instance is killed',
      async () => {
        const exit = once(services[0]!.child, 'exit');
        services[0]!.child.kill('SIGKILL');
        await exit;
        services[0] = await start(0);
      },
    ],
    [
      'the primary is killed',
      async () => {
        await primary.end('SIGKILL');
        await primary.start();
      },
    ],
    [
      'the primary is frozen',
      async () => {
        await primary.freeze();
        await delay(FROZEN);
        primary.thaw();
      },
    ],
    [
      'the standby is killed',
      async () => {
        await standby.end('SIGKILL');
        standbyStarts++;
        await standby.start();
      },
    ],
    breaks('an instance and the primary', 0),
    breaks('an instance and the primary', 0, ['there']),
    breaks('an instance and the primary', 1, ['back']),
    breaks('primary and standby', 2),
    breaks('primary and standby', 2, ['there']),
    breaks('primary and standby', 2, ['back']),
  ];
  if (FAKETIME)
    faults.push([
      'the clock of an instance is an hour ahead, and goes back',
      async () => {
        await writeFile(clock, '+3600');
        await delay(FROZEN);
        await writeFile(clock, '+0');
      },
    ]);
  else process.stderr.write('skipped: steps of the clock, for which libfaketime is not installed\n');

  it(
    'is what one order of all writes explains, through kills, a frozen database, broken networks and steps of a clock',
    async () => {
      const chronicle = new Chronicle(token, {
        urls: () => services.map((service) => service.url),
        reader: () => reader.url,
        starts: () => standbyStarts,
      });
      following = chronicle;
      chronicle.start({ behind: 2 });
      const goOn = async (before = chronicle.told) => {
        await eventually(() => expect(chronicle.told).toBeGreaterThan(before + QUIET));
      };
      try {
        for (let round = 0; round < ROUNDS; round++)
          for (const [what, fault] of faults) {
            await goOn();
            process.stderr.write(`history: ${what}\n`);
            await fault();
          }
        await goOn();
      } finally {
        await chronicle.stop();
      }
      expect(chronicle.unexpected).toEqual([]);
      expect(contradictions(chronicle.writes, chronicle.answers)).toEqual([]);

      await eventually(async () => {
        const logs = new Set((await chronicle.all()).map(({ id }) => id));
        for (const followed of chronicle.followed) expect(copyOf(followed)).toEqual(logs);
      });
      await chronicle.stopFollowing();
      const events = new Map<string, unknown>();
      for (const followed of chronicle.followed) {
        for (const event of followed) {
          // The same event is the same to everybody.
          expect(events.get(event.id) ?? event).toEqual(event);
          events.set(event.id, event);
        }
        const positions = followed.map(({ id }) => BigInt(id.slice(0, id.indexOf('-'))));
        expect(positions).toEqual(positions.toSorted((one, other) => Number(one - other)));
      }
      const asked = (of: Answer['kind']) => chronicle.answers.filter(({ kind }) => kind === of).length;
      process.stderr.write(
        `history: ${chronicle.told} writes, ${asked('page')} pages, ${asked('sums')} sums, ${asked('one')} single logs, ${events.size} events\n`,
      );
    },
    LIMIT,
  );

  it('is seen to be wrong where a reader goes to a standby that is older', async () => {
    let turn = 0;
    const chronicle = new Chronicle(token, {
      urls: () => services.map((service) => service.url),
      reader: () => (turn++ % 2 === 0 ? services[0]! : reader).url,
    });
    await queryOnce(standby.url, 'select pg_wal_replay_pause()');
    try {
      await expectContradictions(chronicle);
    } finally {
      await queryOnce(standby.url, 'select pg_wal_replay_resume()');
    }
  });

  it('is seen to be wrong where logs are committed without their counts', async () => {
    const [{ triggers } = { triggers: '' }] = await queryOnce<{ triggers: string }>(
      url,
      `select string_agg('alter table time_logs disable trigger ' || tgname, ';') as triggers
         from pg_trigger where tgrelid = 'time_logs'::regclass and tgname like 'count%'`,
    );
    await queryOnce(url, triggers);
    await expectContradictions(new Chronicle(token, { urls: () => services.map((service) => service.url) }));
  });

  /** Some clients are told, sooner or later, what cannot be. */
  const expectContradictions = async (chronicle: Chronicle) => {
    chronicle.start({ writers: 3, behind: chronicle.hasReader ? 1 : 0, followers: 0 });
    try {
      await eventually(() => expect(contradictions(chronicle.writes, chronicle.answers)).not.toEqual([]));
    } finally {
      await chronicle.stop();
    }
  };
});

/** The ids of the logs that whoever applies these events has. */
function copyOf(events: Chronicle['followed'][number]): Set<string> {
  const copy = new Set<string>();
  for (const { type, data } of events) {
    if (type === 'time-log.deleted') copy.delete(data.id);
    else copy.add(data.id);
  }
  return copy;
}
