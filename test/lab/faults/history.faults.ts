import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newToken } from '../../../src/access-token/access-token.js';
import { Chronicle } from '../history/chronicle.js';
import { contradictions } from '../history/contradictions.js';
import { Estate } from '../history/estate.js';
import type { Answer } from '../history/history.js';
import { eventually } from '../eventually.js';

const { ROUNDS = '3' } = process.env;
/** Writes that somebody is told of between two faults. */
const QUIET = 150;

describe('what clients of two instances are told', () => {
  const token = newToken();
  let estate: Estate;
  let chronicle: Chronicle;

  beforeAll(async () => {
    estate = await Estate.create(token);
  });
  afterAll(() => estate.remove());

  // Each looks at its own logs alone.
  beforeEach(async () => {
    await estate.empty();
    chronicle = new Chronicle(token, {
      urls: () => estate.urls,
      reader: () => estate.readerUrl,
      starts: () => estate.standbyStarts,
    });
  });
  afterEach(async () => {
    await chronicle.stop();
    await chronicle.stopFollowing();
  });

  const goOn = async (before = chronicle.told) => {
    await eventually(() => expect(chronicle.told).toBeGreaterThan(before + QUIET));
  };

  it.each(Array.from({ length: Number(ROUNDS) }, (_, round) => round + 1))(
    'is what one order of all writes explains, through kills, failovers, a frozen database, broken networks and steps of a clock (%i)',
    async () => {
      chronicle.start({ behind: 2, followers: 2 });
      for (const [what, fault] of estate.faults()) {
        await goOn();
        const begin = performance.now();
        await fault(goOn);
        process.stderr.write(`history: ${what} (${secondsSince(begin)} s)\n`);
      }
      await goOn();
      await chronicle.stop();
      expect(chronicle.unexpected).toEqual([]);
      const begin = performance.now();
      expect(contradictions(chronicle.writes, chronicle.answers)).toEqual([]);
      const seconds = secondsSince(begin);

      await eventually(async () => {
        const logs = await chronicle.all();
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
        `history: ${chronicle.told} writes, ${asked('page')} pages, ${asked('sums')} sums, ${asked('one')} single logs, ${events.size} events, checked in ${seconds} s\n`,
      );
    },
  );

  /** Some clients are told, sooner or later, what cannot be. */
  const expectContradictions = () =>
    eventually(async () => {
      const before = chronicle.answers.length;
      await eventually(() => expect(chronicle.answers.length).toBeGreaterThan(before + QUIET));
      expect(contradictions(chronicle.writes, chronicle.answers)).not.toEqual([]);
    });

  it('is seen to be wrong where a reader goes to a standby that is older', async () => {
    let turn = 0;
    chronicle = new Chronicle(token, {
      urls: () => estate.urls,
      reader: () => (turn++ % 2 === 0 ? estate.urls[0]! : estate.readerUrl),
    });
    await estate.withoutReplay(async () => {
      chronicle.start({ writers: 3, behind: 1 });
      await expectContradictions();
      await chronicle.stop();
    });
  });

  it('is seen to be wrong where a total is from another snapshot than its logs', async () => {
    // Each of its statements then sees what is committed before that statement.
    await estate.query('alter function page_time_logs volatile');
    chronicle.start({ writers: 3 });
    await expectContradictions().finally(() => estate.query('alter function page_time_logs stable'));
  });

  it('is seen to be wrong where logs are committed without their counts', async () => {
    const [{ triggers } = { triggers: '' }] = await estate.query<{ triggers: string }>(
      `select string_agg('alter table time_logs disable trigger ' || tgname, ';') as triggers
         from pg_trigger where tgrelid = 'time_logs'::regclass and tgname like 'count%'`,
    );
    await estate.query(triggers);
    chronicle.start({ writers: 3 });
    await expectContradictions().finally(() => estate.query(triggers.replaceAll('disable', 'enable')));
  });

  it('is seen to be wrong where a failover loses logs that were acknowledged', async () => {
    chronicle.start();
    await goOn();
    await estate.withoutReplication(goOn);
    await estate.failOver(goOn, 'killed');
    await expectContradictions();
  });
});

const secondsSince = (begin: number) => ((performance.now() - begin) / 1_000).toFixed(1);

/** The logs that whoever applies these events has, by their ids. */
function copyOf(events: Chronicle['followed'][number]) {
  const copy = new Map<string, unknown>();
  for (const { type, data } of events)
    // What items of a list have.
    if (type !== 'time-log.deleted') copy.set(data.id, { ...data, date: undefined });
    else copy.delete(data.id);
  return copy;
}
