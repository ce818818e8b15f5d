import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { aroundStatements, startTestApp, type TestApp } from '../../support/test-app.js';
import type { Sample } from '../../support/describe-route.js';
import { authorized, edgeApp } from '../../support/edge.js';
import { newGate } from '../../support/gate.js';
import { type Answer, answersIn } from '../../support/raw-http.js';
import { LOG, TIME_LOGS } from '../../support/requests.js';

/** The text of a request with the token of the app. */
function textOf(app: TestApp, { method = 'GET', path, headers = {}, body = '' }: Sample): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body as string)}`];
  return authorized(app, `${method} ${path}`, ...lines, ...length) + (body as string);
}

const LIST = { path: TIME_LOGS };
const LARGE_LIST = { path: `${TIME_LOGS}?limit=1000` };
const CREATE = {
  method: 'POST',
  path: TIME_LOGS,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(LOG),
};

/** Undoes what a test has left. */
const endings: (() => unknown)[] = [];
afterEach(() => endings.splice(0).forEach((end) => end()));

/** Connects a client that still reads after it has closed its own side. */
async function open({ port }: TestApp): Promise<Socket> {
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  endings.push(() => client.destroy());
  await once(client, 'connect');
  return client.setEncoding('latin1');
}

/** Reads until the service closes the connection, also if it resets it. */
async function readAll(client: Socket): Promise<Answer[]> {
  let text = '';
  client.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined);
  await new Promise((resolve) => client.once('end', resolve).once('close', resolve));
  return answersIn(text);
}

const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status);

/** Watches connections as the app sees them. */
function watchConnections(app: TestApp) {
  const byPort = new Map<number | undefined, Socket>();
  app.app.getHttpServer().on('connection', (socket: Socket) => byPort.set(socket.remotePort, socket));
  return {
    /** Resolves when the app has read all from a client, or has closed the connection. */
    ended: ({ localPort }: Socket) =>
      eventually(() => {
        const { readableEnded, destroyed } = byPort.get(localPort)!;
        expect(readableEnded || destroyed).toBe(true);
      }),
  };
}

/** Holds all statements. Returns a function that releases them. */
function holdStatements(app: TestApp): () => void {
  const gate = newGate();
  endings.push(
    aroundStatements(app.dataSource, async (_sql, run) => {
      await gate.opened;
      return run();
    }),
  );
  return () => gate.open();
}

describe('a client that closes its side after the request', () => {
  const app = edgeApp();
  let connections: ReturnType<typeof watchConnections>;
  beforeAll(() => void (connections = watchConnections(app)));

  it.each([
    ['a request', [CREATE]],
    ['pipelined requests', [LIST, CREATE, LIST, LARGE_LIST]],
  ])(
    'gets the response to %s, after a wait for the database too, and then the end',
    async (_what, requests) => {
      const release = holdStatements(app);
      const client = await open(app);
      const answers = readAll(client);
      client.end(requests.map((request) => textOf(app, request)).join(''));
      await connections.ended(client);
      release();
      expect(statusesOf(await answers)).toEqual(requests.map((request) => (request === CREATE ? 201 : 200)));
    },
  );
});

it('a half-closed connection gets its response while the service stops, which then ends', async () => {
  const app = await startTestApp();
  const connections = watchConnections(app);
  const release = holdStatements(app);
  const client = await open(app);
  const answers = readAll(client);
  client.end(textOf(app, CREATE));
  await connections.ended(client);
  const closed = app.close();
  await eventually(() => expect(app.app.getHttpServer().listening).toBe(false));
  release();
  expect(statusesOf(await answers)).toEqual([201]);
  await closed;
});
