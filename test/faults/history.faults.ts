import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { digestOf, newToken } from '../../src/access-token/token-text.js';
import { scopes } from '../../src/app.module.js';
import { Chronicle } from '../history/chronicle.js';
import { type Answer, contradictions } from '../history/contradictions.js';
import { type ServiceProcess, startService } from '../support/service-process.js';
import { eventually } from './support/eventually.js';
import { timesOf } from './support/extent.js';
import { PostgresCluster, queryOnce } from './support/postgres-cluster.js';

const ROUNDS = timesOf(8, 1);
/** Writes that somebody is told of between two faults. */
const QUIET = 150;
/** Milliseconds of a frozen database: longer than a request waits for it. */
const FROZEN = 4_000;
const LIMIT = 120_000 + ROUNDS * 120_000;

describe('what clients of two instances are told', () => {
  const token = newToken();
  let primary: PostgresCluster;
  let standby: PostgresCluster;
  let url: string;
  let onStandby: string;
  let services: ServiceProcess[];
  let reader: ServiceProcess;

  beforeAll(async () => {
    primary = await PostgresCluster.create();
    standby = await primary.createStandby();
    url = await primary.createDatabase();
    services = [await start(), await start()];
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

  const start = () => startService({ DATABASE_URL: url });
  const faults: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'an instance is killed',
      async () => {
        const exit = once(services[0]!.child, 'exit');
        services[0]!.child.kill('SIGKILL');
        await exit;
        services.push(services.shift()!);
        services[1] = await start();
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
  ];

  it(
    'is what one order of all writes explains, through kills and a frozen database',
    async () => {
      const chronicle = new Chronicle(token, {
        urls: () => services.map((service) => service.url),
      });
      following = chronicle;
      chronicle.start();
      const goOn = async (before = chronicle.told) => {
        await eventually(() => expect(chronicle.told).toBeGreaterThan(before + QUIET));
      };
      try {
        for (let round = 0; round < ROUNDS; round++)
          for (const [, fault] of faults) {
            await goOn();
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
