import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { eventually } from '../../libs/host-kit/src/contract/eventually.js';
import { overTransport } from '../messages/test-clients.js';
import { messageOptions } from '../messages/host.js';
import { aroundStatements } from '../support/around-statements.js';
import {
  connectMessages,
  LargeResponseLimiter,
  PageRequest,
  Period,
  scopes as scopesOfService,
  TotalsService,
  TypeOrmTimeLogRepository,
} from '../support/compiled.js';
import { type Gate, newGate } from '../support/gate.js';
import {
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
import { startTestApp, type TestApp } from '../support/test-app.js';
import { unusedPort } from '../support/unused-port.js';

const OTHER_PROJECT = 'b0000000-0000-4000-8000-00000000000f';
const scopes = scopesOfService.map(({ name }) => name);
const NOT_FOUND = [404, refusal('NOT_FOUND', 'there is no time log with this id')];

let app: TestApp;
let client: ClientProxy;
/** Statements that contain the text wait for their gates, which stand here in the order of their beginning. */
let held: { readonly text: string; readonly gates: Gate[] } | undefined;
let end: () => void;

beforeAll(async () => {
  const port = await unusedPort();
  const messagesUrl = `tcp://127.0.0.1:${port}`;
  app = await startTestApp({ messagesUrl });
  await connectMessages(app.app, messageOptions(messagesUrl));
  client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  end = aroundStatements(app.dataSource, async (sql, run) => {
    if (held && sql.includes(held.text)) {
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
const tokenOf = async (name: string, projects?: string[]) =>
  (await app.tokens.create({ name, scopes, ...(projects && { projects }) })).token;
const sums = (token: string, query: string) =>
  send({ port: app.port, token }, `${TIME_LOGS}/totals?${query}`).then(({ status }) => status);

describe('while one caller asks for more long sums than there are connections', () => {
  const asked: Promise<unknown>[] = [];
  let gates: Gate[];

  beforeAll(async () => {
    expect((await create(app, LOG)).status).toBe(201);
    await app.dataSource.query(
      `insert into time_logs (id, project_id, duration, description, date)
       select (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, $1, 1, '', date '2000-01-01' + n * 32
         from generate_series(1, 200) n`,
      [OTHER_PROJECT],
    );
    await app.dataSource.query('select fold_time_log_counts(1000)');
    const attacker = await tokenOf('attacker', [OTHER_PROJECT]);
    gates = hold('page_time_log_group_sums');
    for (let count = 0; count < 12; count++) asked.push(sums(attacker, 'by=day'));
    await eventually(() => expect(gates).toHaveLength(1));
  });
  afterEach(() => {
    held = { text: 'page_time_log_group_sums', gates };
  });
  afterAll(async () => {
    const opening = setInterval(() => gates.forEach((gate) => gate.open()));
    await Promise.all(asked);
    clearInterval(opening);
  });

  it('others create, list, and get sums of one project', async () => {
    const begun = gates.length;
    expect((await create(app, LOG)).status).toBe(201);
    expect((await list(app, `projectId=${PROJECT}`)).status).toBe(200);
    expect(await sums(app.token, `projectId=${PROJECT}`)).toBe(200);
    expect(await sums(app.token, `projectId=${PROJECT}&by=project`)).toBe(200);
    expect(gates).toHaveLength(begun);
  });

  it('a bound caller lists several projects that have few rows of counts', async () => {
    const token = await tokenOf('bound', [PROJECT, OTHER_PROJECT]);
    expect((await list({ port: app.port, token })).status).toBe(200);
  });

  it.each(['from=2026-01-01&to=2026-01-31&by=day', 'by=month'])(
    'a small sum runs at once: %s',
    async (query) => {
      const begun = gates.length;
      const sum = sums(app.token, `projectId=${PROJECT}&${query}`);
      await eventually(() => expect(gates).toHaveLength(begun + 1));
      gates.at(-1)!.open();
      expect(await sum).toBe(200);
    },
  );

  it('sums of all projects run one at a time, over HTTP, messages and in process', async () => {
    const others = hold('page_time_log_project_sums');
    asked.push(
      sums(app.token, 'by=project'),
      overTransport(client).totals({ accessToken: app.token, query: { by: 'project' } }),
      app.app.get(TotalsService).totals({ period: Period.of() }, 'project', PageRequest.of(1, 50)),
    );
    // A later request over each way is answered first.
    expect(await overTransport(client).list({ accessToken: app.token })).toMatchObject({ answer: {} });
    expect((await list(app)).status).toBe(200);
    expect(others).toHaveLength(0);
  });
});

describe('while a large page is made, a page with few logs and a limit of 1000 is answered', () => {
  const projectId = 'c0000000-0000-4000-8000-00000000000f';
  const gate = newGate();
  let large: Promise<unknown>;
  beforeAll(async () => {
    expect((await create(app, { ...LOG, projectId })).status).toBe(201);
    large = app.app
      .get(LargeResponseLimiter)
      .make(
        {},
        { isClosed: () => false, sent: () => gate.opened, close: () => undefined },
        { estimateBytes: async () => undefined, make: () => gate.opened },
      );
  });
  afterAll(async () => {
    gate.open();
    await large;
  });

  it('over HTTP, as logs and as events', async () => {
    const query = `projectId=${projectId}&limit=1000`;
    expect((await list(app, query)).body).toMatchObject({ data: [{ projectId }], meta: { total: 1 } });
    await eventually(async () =>
      expect((await send(app, `${TIME_LOGS}/events?${query}`)).body).toMatchObject([{ data: { projectId } }]),
    );
  });

  it('over TCP', async () => {
    const query = { projectId, limit: 1_000 };
    const page = await overTransport(client).list({ accessToken: app.token, query });
    expect(page).toMatchObject({ answer: { data: [{ projectId }], meta: { total: 1 } } });
  });
});

it('far pages of one caller take half of the connections, and the next list runs at once', async () => {
  const gates = hold('page_time_logs');
  const asked = Array.from({ length: 12 }, () => list(app, 'page=200'));
  await eventually(() => expect(gates).toHaveLength(5));
  const next = list(app, `projectId=${PROJECT}`);
  await eventually(() => expect(gates).toHaveLength(6));
  gates.at(-1)!.open();
  expect((await next).status).toBe(200);
  const opening = setInterval(() => gates.forEach((gate) => gate.open()));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  clearInterval(opening);
  held = undefined;
  expect(statuses).toEqual(statuses.map(() => 200));
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

  it('of one log run for its callers in rotation', async () => {
    const busy = await tokenOf('busy');
    const repository = app.app.get(TypeOrmTimeLogRepository);
    const gates = hold('for no key update of log');
    const order: string[] = [];
    const ask = (name: string, token: string) =>
      correctBy(token, PROJECT, 4 + order.length).then(({ status }) => order.push(`${name} ${status}`));
    const asked = Array.from({ length: 5 }, () => ask('busy', busy));
    await eventually(() => expect([gates.length, repository.queueLength]).toEqual([1, 4]));
    asked.push(ask('owner', app.token));
    await eventually(() => expect(repository.queueLength).toBe(5));
    const opening = setInterval(() => gates.forEach((gate) => gate.open()));
    await Promise.all(asked);
    clearInterval(opening);
    expect(order.indexOf('owner 200')).toBeLessThanOrEqual(2);
    expect(order.filter((text) => text.endsWith(' 200'))).toHaveLength(6);
  });
});
