import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { eventually } from '../support/eventually.js';
import { overTransport } from '../messages/test-clients.js';
import { aroundStatements, startTestApp, type TestApp } from '../support/test-app.js';
import { LargeLists } from '../../src/time-log/index.js';
import { loadConfig } from '../../src/process/config.js';
import { scopes } from '../../src/app.module.js';
import { type Gate, newGate } from '../support/gate.js';
import {
  type Answer,
  correct,
  create,
  idOf,
  list,
  LOG,
  outcome,
  PROJECT,
  refusal,
  remove,
  send,
  TIME_LOGS,
} from '../support/requests.js';
import { unusedPort } from '../support/unused-port.js';

const OTHER_PROJECT = 'b0000000-0000-4000-8000-00000000000f';
/** No verdict depends on the speed of the machine. */
const { limits } = loadConfig({}, false);
const NOT_FOUND = [404, refusal('NOT_FOUND', 'there is no time log with this id')];

/** The statements of the sweep, which begins by itself. */
const OWN = /fold_time_log_counts|with expired as/;

let app: TestApp;
let client: ClientProxy;
/** Statements that contain the text wait for their gates, which stand here in the order of their beginning. */
let held: { readonly text: string; readonly gates: Gate[] } | undefined;
let end: () => void;

beforeAll(async () => {
  const port = await unusedPort();
  const messagesUrl = `tcp://127.0.0.1:${port}`;
  app = await startTestApp({ messagesUrl, limits: { ...limits, deadline: 60_000 } });
  client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  end = aroundStatements(app.dataSource, async (sql, run) => {
    if (held && sql.includes(held.text) && !OWN.test(sql)) {
      const gate = newGate();
      held.gates.push(gate);
      await gate.opened;
    }
    return run();
  });
});
afterAll(async () => {
  client.close();
  end();
  await app.close();
});

const hold = (text: string): Gate[] => {
  const gates: Gate[] = [];
  held = { text, gates };
  return gates;
};
/** Opens the gates of all requests, also those that come, and returns the answers. */
const openAll = async <T>(gates: readonly Gate[], asked: readonly Promise<T>[]): Promise<T[]> => {
  const opening = setInterval(() => gates.forEach((gate) => gate.open()));
  try {
    return await Promise.all(asked);
  } finally {
    clearInterval(opening);
    held = undefined;
  }
};
const tokenOf = async (name: string, projects?: string[]) =>
  (await app.tokens.create({ name, scopes, ...(projects && { projects }) })).token;
const askForSums = (token: string, query: string) =>
  send({ port: app.port, token }, `${TIME_LOGS}/totals?${query}`);
const sums = (token: string, query: string) => askForSums(token, query).then(({ status }) => status);
/** Sums by day of 9,999 years. */
const LONG = 'by=day&from=0001-01-01&to=9999-12-31';
/** Half of the default pool. */
const COSTLY_READS = 5;

describe('while one caller asks for long sums over 30 connections', () => {
  let asked: Promise<Answer>[];
  let gates: Gate[];

  beforeEach(async () => {
    const attacker = await tokenOf('attacker', [OTHER_PROJECT]);
    gates = hold('page_time_log_group_sums');
    asked = Array.from({ length: 30 }, () => askForSums(attacker, LONG));
    await eventually(() => expect(gates).toHaveLength(COSTLY_READS));
  });
  afterEach(() => openAll(gates, asked));

  it('they take half of the pool, and others create, list, and get sums of one project', async () => {
    expect((await create(app, LOG)).status).toBe(201);
    expect((await list(app)).status).toBe(200);
    expect((await list(app, `projectId=${PROJECT}&limit=100`)).status).toBe(200);
    expect(await sums(app.token, `projectId=${PROJECT}`)).toBe(200);
    expect(await sums(app.token, `projectId=${PROJECT}&by=project`)).toBe(200);
    expect(await overTransport(client).list({ accessToken: app.token })).toMatchObject({ answer: {} });
    expect(gates).toHaveLength(COSTLY_READS);
  });

  it('the costly read of another caller comes next', async () => {
    const others = hold('page_time_log_project_sums');
    const other = sums(app.token, 'by=project');
    // A later request of the same caller is answered first.
    expect((await list(app)).status).toBe(200);
    gates[0]!.open();
    await eventually(() => expect(others).toHaveLength(1));
    expect(gates).toHaveLength(COSTLY_READS);
    others[0]!.open();
    expect(await other).toBe(200);
  });
});

describe('while large lists of one caller are formed', () => {
  const gate = newGate();
  const large: Promise<unknown>[] = [];
  beforeAll(() => {
    const lists = app.app.get(LargeLists);
    for (let count = 0; count < 3; count++) large.push(lists.form('busy', () => gate.opened));
  });
  afterAll(async () => {
    gate.open();
    await Promise.all(large);
  });

  it('large ones wait, over HTTP, as logs and as events, and over TCP', async () => {
    const gates = hold('time_log');
    const query = { limit: 101 };
    const asked = [
      list(app, 'limit=101'),
      send(app, `${TIME_LOGS}/events?limit=101`),
      overTransport(client).list({ accessToken: app.token, query }),
    ];
    const small = list(app);
    await eventually(() => expect(gates).toHaveLength(1));
    gates[0]!.open();
    expect((await small).status).toBe(200);
    expect(gates).toHaveLength(1);
    held = undefined;
    gate.open();
    const [logs, events, message] = await Promise.all(asked);
    expect([logs, events]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(message).toMatchObject({ answer: { success: true } });
  });
});

describe('corrections', () => {
  const correctBy = (token: string, projectId: string, duration: number) =>
    correct({ port: app.port, token }, id, { ...LOG, projectId, duration });
  let id: string;
  beforeAll(async () => {
    id = idOf(await create(app));
  });

  it('of a log beyond the access are refused while its owner is at work', async () => {
    const foreigner = await tokenOf('foreigner', [OTHER_PROJECT]);
    const gates = hold('for no key update of log');
    const own = correctBy(app.token, PROJECT, 2);
    await eventually(() => expect(gates).toHaveLength(1));
    const refused = await Promise.all([
      remove({ port: app.port, token: foreigner }, id),
      ...Array.from({ length: 20 }, () => correctBy(foreigner, OTHER_PROJECT, 3)),
    ]);
    expect(refused.map(outcome)).toEqual(refused.map(() => NOT_FOUND));
    expect(gates).toHaveLength(1);
    gates[0]!.open();
    expect((await own).status).toBe(200);
  });
});
