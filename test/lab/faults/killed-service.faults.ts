import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { timesOf } from '../../support/extent.js';
import { underWrites } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const KILLS = timesOf(50, 2);
/** Few enough that the batches of all writers have room in the queue. */
const BATCH = 100;

describe('a service that is killed', () => {
  const postgres = useCluster();

  it(`loses no acknowledged log through ${KILLS} SIGKILLs under concurrent writes, and serves at once when it is back`, () =>
    survivesKills(false));

  it(`makes each log once through ${KILLS} SIGKILLs under writers that repeat a create with its key until it is acknowledged`, () =>
    survivesKills(true));

  it.each([false, true])(
    `stores no part of a batch through ${KILLS} SIGKILLs, and loses none; with keys it makes each once: %s`,
    (areKeyed) => survivesKills(areKeyed, BATCH),
  );

  async function survivesKills(areKeyed: boolean, batch = 1): Promise<void> {
    // Without a pause, so that a create is in flight at most times.
    await underWrites({ database: postgres, areKeyed, batch }, async (scene) => {
      const { writers, ledger } = scene;
      let [kills, killsInFlight] = [0, 0];
      // A request in flight may be answered at the moment of the kill: such a kill is repeated, and does not count.
      for (; killsInFlight < KILLS; kills++) {
        const before = ledger.acknowledged.size;
        // Not always after the same number, so that the kills meet the writers in every state.
        const enough = before + (100 + randomInt(50)) * Math.ceil(batch / 10);
        const isTime = () => ledger.acknowledged.size >= enough && ledger.inFlight.size > 0;
        await writers.until(isTime, `100 acknowledged creates since kill ${kills}`);
        const inFlight = [...ledger.inFlight];
        expect(await scene.service.end('SIGKILL')).toBe('SIGKILL');
        await writers.until(() => ledger.inFlight.size === 0, 'an end of every create of the killed service');
        if (inFlight.some((description) => ledger.unknown.get(description) === 'cut')) killsInFlight++;
        await scene.restart();
        await writers.acknowledge(1);
      }
      // The service was never unavailable, only gone.
      expect(ledger.count('refused')).toBe(0);
    });
  }
});
