import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readStream } from '../brokers/consumers.js';
import { auditEvents } from '../faults/support/event-audit.js';
import { eventually } from '../eventually.js';
import { useFolder } from '../../support/fixtures.js';
import { queryOnce } from '../../support/postgres-cluster.js';
import { storeToken } from '../tokens.js';
import { type Nats, startNats } from '../brokers/brokers.js';
import { Copy } from './copy.js';
import { describeWith } from '../describe-with.js';
import { type Instance, PROGRAMS, useFleet } from './fleet.js';
import { Observer } from './observer.js';
import { PacedClient, Scene, textOf, type Values } from './paced-client.js';
import { printTable, Sight } from './sight.js';

const { MINUTES = '60' } = process.env;
/** Requests a second of all clients. */
const RATE = 100;
const CLIENTS = 40;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Milliseconds for which a broker is away. */
const AWAY = 5 * SECOND;
/** How much is told of what is wrong. */
const SOME = 5;

/** Something that is killed and comes back, and what is seen until the next such fault. */
interface Fault {
  readonly name: string;
  readonly make: (turn: number) => Promise<unknown>;
  readonly scene: Scene;
  /** Seconds after each time until no event was late any more. */
  readonly late: number[];
}

/** What was seen of all of it. */
interface Seen {
  readonly observer: Observer;
  readonly copies: readonly Copy[];
  readonly events: Awaited<ReturnType<typeof auditEvents>>;
  readonly memory: ReturnType<Observer['memory']>;
  readonly logs: number;
}

describeWith(...PROGRAMS, 'nats-server')('the whole fleet', () => {
  const streams = useFolder('streams-');
  let broker: Nats;
  beforeAll(async () => {
    broker = await startNats(undefined, streams());
  });
  afterAll(() => broker.stop());
  const fleet = useFleet({ settings: async () => ({ EVENTS_URL: broker.url }) });
  let token: string;
  let faults: Fault[];
  const quiet = new Scene();
  let scene = quiet;
  /** What did not come back. */
  const troubles: string[] = [];

  beforeAll(async () => {
    token = await storeToken(fleet.databaseUrl);
    // The first instance is never killed: it shows what an hour does to the memory.
    const mortals = [...fleet.instances.slice(1), fleet.reader];
    const makes: Record<string, Fault['make']> = {
      'an instance': (turn) => killInstance(mortals[turn % mortals.length]!),
      'the primary': () => fleet.postgres.failOver().then(() => fleet.postgres.whole()),
      'the broker': killBroker,
      'the standby': killStandby,
      'a balancer': (turn) => fleet.killBalancer(turn % 2),
    };
    faults = Object.entries(makes).map(([name, make]) => ({ name, make, scene: new Scene(), late: [] }));
  });

  const killInstance = async (instance: Instance) => {
    await instance.end('SIGKILL');
    // It ends where the database is away for longer than a start waits.
    await eventually(() => instance.start());
  };
  const killStandby = async () => {
    const { standby } = await fleet.postgres.whole();
    await standby.killServer();
    await eventually(() => standby.query('select'));
    await fleet.postgres.whole();
  };
  const killBroker = async () => {
    await broker.kill();
    await delay(AWAY);
    broker = await startNats(Number(new URL(broker.url).port), streams());
  };

  /** The logs of each project, as texts by their ids. */
  const readTable = async () => {
    const rows = await queryOnce<Omit<Values, 'duration'> & { id: string; duration: string }>(
      fleet.databaseUrl,
      `select id, project_id as "projectId", duration, description, to_char(date, 'YYYY-MM-DD') as date from time_logs`,
    );
    const table = new Map<string, Map<string, string>>();
    for (const { id, ...row } of rows) {
      if (!table.has(row.projectId)) table.set(row.projectId, new Map());
      table.get(row.projectId)!.set(id, textOf(row));
    }
    return table;
  };

  /** Makes a fault in the midst of each minute. What does not come back does not end the run. */
  const makeFaults = async (observer: Observer) => {
    const begun = performance.now();
    const now = () => (performance.now() - begun) / MINUTE;
    const until = (minute: number) => delay(Math.max(0, minute - now()) * MINUTE);
    let next = 0.5;
    for (let turn = 0; next < Number(MINUTES); turn++) {
      await until(next);
      const fault = faults[turn % faults.length]!;
      scene = fault.scene;
      scene.resume();
      const killed = performance.now();
      await fault.make(fault.late.length).catch((error: unknown) => {
        troubles.push(`${fault.name}: ${String(error)}`);
      });
      const back = (performance.now() - killed) / SECOND;
      const late = await observer.untilInTime();
      fault.late.push(late);
      const times = `back after ${back.toFixed(1)} s, events in time ${late.toFixed(1)} s later`;
      process.stderr.write(`minute ${next}, ${fault.name}: ${times}\n`);
      // Where it took longer than a minute the next ones are left out.
      next = Math.floor(Math.max(next, now() - 0.5)) + 1.5;
    }
    await until(Number(MINUTES));
  };

  it(`keeps ${MINUTES} minutes of all that clients do, with a kill a minute`, async () => {
    const interval = (CLIENTS / RATE) * SECOND;
    const { urls, ca } = fleet;
    const clients = Array.from({ length: CLIENTS }, (_, index) => {
      const own = index % 2 === 0 ? urls : urls.toReversed();
      return new PacedClient({ urls: own, ca, token, interval, scene: () => scene });
    });
    const copies = [new Copy(fleet, token, { 'cache-control': 'no-cache' }), new Copy(fleet, token)];
    const observer = new Observer(fleet, token);
    for (const client of clients) client.start();
    await makeFaults(observer);
    await Promise.all(clients.map((client) => client.stop()));
    await observer.stop();

    await fleet.postgres.whole();
    const table = await readTable();
    const logs = new Map([...table.values()].flatMap((rows) => [...rows]));
    const wrongCopies = await Promise.all(
      copies.map(async (copy) => {
        const isEqual = () => expect(copy.differencesFrom(logs)).toEqual([]);
        await eventually(isEqual).catch(() => undefined);
        await copy.stop();
        return copy.differencesFrom(logs);
      }),
    );
    await eventually(async () => expect(await observer.lag()).toBe(0)).catch(() => undefined);
    const lag = await observer.lag();
    const events = await auditEvents(fleet.databaseUrl, readStream(broker.url));
    const memory = observer.memory(Number(MINUTES) * 15);
    report({ observer, copies, events, memory, logs: logs.size });

    const some = (list: readonly string[]) => list.slice(0, SOME);
    expect({
      troubles: some(troubles),
      strange: some([...clients, ...copies].flatMap(({ strange }) => strange)),
      wrong: some(clients.flatMap((client) => client.differencesFrom(table))),
      wrongCopies: some(wrongCopies.flat()),
      events: [events.missing, events.invented, events.disordered].map(some),
      late: faults.filter(({ late }) => late.includes(Infinity)).map(({ name }) => name),
      lag,
      memory: memory.filter(({ hasGrown }) => hasGrown),
    }).toEqual({
      troubles: [],
      strange: [],
      wrong: [],
      wrongCopies: [],
      events: [[], [], []],
      late: [],
      lag: 0,
      memory: [],
    });
    await fleet.verifyCounts();
  });

  /** Prints what was seen through each kind of fault, and in all. */
  function report({ observer, copies, events, memory, logs }: Seen): void {
    const failed = ({ refused, closed }: Sight) => refused + closed;
    const seconds = (milliseconds: number) => (milliseconds / SECOND).toFixed(1);
    printTable([
      ['SIGKILL of', 'creates', 'failed with keys', 'failed without', 'longest without, s', 'events late, s'],
      ...faults.map(({ name, scene: { creates, createsWithKeys }, late }) => [
        `${name}, ${late.length} times`,
        creates.acknowledged,
        failed(createsWithKeys),
        failed(creates) - failed(createsWithKeys),
        seconds(creates.longestGap),
        Math.max(0, ...late).toFixed(1),
      ]),
    ]);
    const kinds = (['creates', 'changes', 'reads'] as const).map((kind) => {
      const all = Sight.all([quiet, ...faults.map((fault) => fault.scene)].map((one) => one[kind]));
      const { acknowledged, refused, closed } = all;
      const latencies = `p50 ${all.percentile(50)} ms, p99 ${all.percentile(99)} ms`;
      return `${kind} ${acknowledged} (503: ${refused}, closed: ${closed}, ${latencies})`;
    });
    const followed = copies.map((copy) => `${copy.events} (gave up ${copy.interrupted} times)`);
    const { missing, invented, disordered, repeats, outdated } = events;
    const published = `${missing.length} missing, ${invented.length} invented, ${disordered.length} disordered`;
    const memories = memory.map(({ early, late }) => `${early.toFixed(0)} to ${late.toFixed(0)}`);
    process.stderr.write(
      `${MINUTES} minutes: ${kinds.join(', ')}; ${logs} logs; events followed: ${followed.join(', ')}; ` +
        `at the broker: ${published}, ${repeats} repeats, ${outdated} outdated; longest lag ${observer.longestLag.toFixed(1)} s; ` +
        `memory of each instance, MB: ${memories.join(', ')}\n`,
    );
  }
});
