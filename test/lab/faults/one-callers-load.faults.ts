import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { digestOf, newToken } from '../../../src/access-token/token-text.js';
import { type ServiceProcess, startService } from '../../support/service-process.js';
import { PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';
import { median } from '../bench/statistics.js';
import { ask, type Question } from './support/ask.js';
import { GoodClient } from './support/good-client.js';
import { TOKEN } from './support/service-under-writes.js';

const ATTACKERS_PROJECT = randomUUID();
const OWNERS_PROJECT = randomUUID();
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
  const attacker = newToken();
  const owner = newToken();
  let postgres: PostgresCluster;
  let service: ServiceProcess;

  beforeAll(async () => {
    postgres = await PostgresCluster.create();
    const url = await postgres.createDatabase();
    service = await startService({ DATABASE_URL: url, ACCESS_TOKEN: TOKEN });
    for (const [token, project] of [
      [attacker, ATTACKERS_PROJECT],
      [owner, OWNERS_PROJECT],
    ] as const)
      await queryOnce(
        url,
        `insert into access_tokens (id, name, digest, scopes, projects, created_at)
         values (gen_random_uuid(), 'bound', $1, $2, array[$3::uuid], now())`,
        [digestOf(token), SCOPES, project],
      );
    await queryOnce(
      url,
      `insert into time_logs (id, project_id, duration, description, date)
       select (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, $1, 1, '', date '0001-01-01' + n * 32
         from generate_series(1, ${LOGS}) n`,
      [ATTACKERS_PROJECT],
    );
    await queryOnce(url, 'analyze');
  });
  afterAll(async () => {
    await service.end('SIGKILL');
    await postgres.remove();
  });

  /** Keeps a number of requests of the attacker in flight until the returned function is called. */
  function attack(inFlight: number, path: string, { method = 'GET', body }: Question = {}) {
    const agent = new Agent({ keepAlive: true });
    const counts: Record<string, number> = {};
    let isOver = false;
    const once = () =>
      new Promise<string>((resolve) => {
        const headers = { authorization: `Bearer ${attacker}`, 'content-type': 'application/json' };
        request({
          agent,
          host: '127.0.0.1',
          port: service.port,
          method,
          path: `/api/v1/time-logs${path}`,
          headers,
        })
          .on('error', (error) => resolve(error.message))
          .on('response', (answer) => answer.resume().on('close', () => resolve(String(answer.statusCode))))
          .end(body);
      });
    const loops = Array.from({ length: inFlight }, async () => {
      while (!isOver) {
        const status = await once();
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

  it(`fails no creates and lists of others by ${SUM_CONNECTIONS} connections of sums`, async () => {
    const other = new GoodClient({ port: service.port, token: TOKEN, rate: RATE });
    await other.measure(WINDOW_MS);
    const latencies: Record<'quiet' | 'attacked', number[]> = { quiet: [], attacked: [] };
    const answers: unknown[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      latencies.quiet.push(...(await other.measure(WINDOW_MS)));
      const end = attack(SUM_CONNECTIONS, '/totals?by=day');
      await delay(500);
      latencies.attacked.push(...(await other.measure(WINDOW_MS)));
      answers.push(await end());
    }
    other.close();
    const [quiet, attacked] = [median(latencies.quiet), median(latencies.attacked)];
    console.log(
      `p50 in ms: ${JSON.stringify({ quiet, attacked, ratio: attacked / quiet })}, sums: ${JSON.stringify(answers)}`,
    );
    expect(other.faults.length).toBe(0);
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
          const { status, took } = await ask(`${url}/${id}`, {
            token: owner,
            method: 'PUT',
            body: correction,
          });
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
