import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { queryOnce } from '../../support/postgres-cluster.js';
import { median } from '../bench/statistics.js';
import { ask, type Question } from './support/ask.js';
import { storeToken } from '../tokens.js';
import { useService } from './support/serve.js';
import { atPace, statusOf } from './support/steady-load.js';
import { TOKEN } from './support/service-under-writes.js';
import { useCluster } from './support/use-cluster.js';

const ATTACKERS_PROJECT = randomUUID();
const OWNERS_PROJECT = randomUUID();
const OTHER_PROJECT = randomUUID();
/** One log in each of the 32-day blocks of the years 1 to 9999. */
const LOGS = 114_000;
const SUM_CONNECTIONS = 30;
const CORRECTIONS_IN_FLIGHT = 200;
/** Requests per second of the other caller. */
const RATE = 50;
const ROUNDS = 3;
const WINDOW_MS = 4_000;
const SCOPES = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];

describe('a caller who is bound to one project', () => {
  const postgres = useCluster();
  const service = useService(() => postgres.createDatabase());
  let attacker: string;
  let owner: string;

  beforeAll(async () => {
    const url = service.databaseUrl;
    const bound = (project: string) => storeToken(url, { scopes: SCOPES, projects: [project] });
    [attacker, owner] = [await bound(ATTACKERS_PROJECT), await bound(OWNERS_PROJECT)];
    await queryOnce(
      url,
      `insert into time_logs (id, project_id, duration, description, date)
       select (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, $1, 1, '', date '0001-01-01' + n * 32
         from generate_series(1, ${LOGS}) n`,
      [ATTACKERS_PROJECT],
    );
    await queryOnce(url, 'analyze');
  });

  /** Keeps a number of requests of the attacker in flight until the returned function is called. */
  function attack(inFlight: number, path: string, question: Question = {}) {
    const agent = new Agent({ keepAlive: true });
    const counts: Record<string, number> = {};
    let isOver = false;
    const loops = Array.from({ length: inFlight }, async () => {
      while (!isOver) {
        const status = await statusOf(agent, { port: service.port, token: attacker }, path, question);
        counts[status] = (counts[status] ?? 0) + 1;
      }
    });
    return async () => {
      isOver = true;
      await Promise.all(loops);
      agent.destroy();
      return counts;
    };
  }

  /** Creates and lists in turn at a steady pace; the milliseconds of each. Notes what is not answered as it must be. */
  async function measure(agent: Agent, faults: string[]): Promise<number[]> {
    const target = { port: service.port, token: TOKEN };
    const body = JSON.stringify({ projectId: OTHER_PROJECT, duration: 1.5, date: '2026-01-31' });
    const times: number[] = [];
    await atPace(RATE, WINDOW_MS, async (number, due) => {
      const status =
        number % 2 === 0
          ? await statusOf(agent, target, '', { body })
          : await statusOf(agent, target, `?projectId=${OTHER_PROJECT}&limit=10`);
      if (status !== (number % 2 === 0 ? '201' : '200')) faults.push(status);
      times.push(performance.now() - due);
    });
    return times;
  }

  it(`fails no creates and lists of others by ${SUM_CONNECTIONS} connections of sums`, async () => {
    const agent = new Agent({ keepAlive: true });
    const faults: string[] = [];
    await measure(agent, faults);
    const latencies: Record<'quiet' | 'attacked', number[]> = { quiet: [], attacked: [] };
    const answers: unknown[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      latencies.quiet.push(...(await measure(agent, faults)));
      const end = attack(SUM_CONNECTIONS, '/totals?by=day');
      await delay(500);
      latencies.attacked.push(...(await measure(agent, faults)));
      answers.push(await end());
    }
    agent.destroy();
    const [quiet, attacked] = [median(latencies.quiet), median(latencies.attacked)];
    console.log(
      `p50 in ms: ${JSON.stringify({ quiet, attacked, ratio: attacked / quiet })}, sums: ${JSON.stringify(answers)}`,
    );
    expect(faults).toEqual([]);
  });

  it(`does not keep an owner from corrections by ${CORRECTIONS_IN_FLIGHT} corrections in flight of the same log`, async () => {
    const url = `${service.url}/api/v1/time-logs`;
    const values = { projectId: OWNERS_PROJECT, duration: 1, description: '', date: '2026-01-31' };
    const created = await ask(url, { token: owner, body: JSON.stringify(values) });
    const { id } = (created.body as { data: { id: string } }).data;
    const body = JSON.stringify({ ...values, projectId: ATTACKERS_PROJECT });
    const latencies: Record<'missing' | 'same', number[]> = { missing: [], same: [] };
    const statuses = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [kind, target] of [
        ['missing', randomUUID()],
        ['same', id],
      ] as const) {
        const end = attack(CORRECTIONS_IN_FLIGHT, `/${target}`, { method: 'PUT', body });
        await delay(500);
        for (let duration = 1; duration <= 10; duration++) {
          const correction = JSON.stringify({ ...values, duration: 20 * round + duration });
          const question = { token: owner, method: 'PUT', body: correction };
          const { status, took } = await ask(`${url}/${id}`, question);
          latencies[kind].push(took);
          statuses.add(status);
        }
        expect(Object.keys(await end())).toEqual(['404']);
      }
    }
    const [missing, same] = [median(latencies.missing), median(latencies.same)];
    console.log(
      `p50 of a correction in ms beside those of a missing log and of the same one: ${missing}, ${same}`,
    );
    expect([...statuses]).toEqual([200]);
  });
});
