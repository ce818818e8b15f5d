import { afterEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { expectedLog, type Made } from '../../support/expected-logs.js';
import { timesOf } from '../../support/extent.js';
import { create, dataOf, list, LOG, send, sendBytes, TIME_LOGS } from '../../support/requests.js';
import { useTestApp } from '../../support/test-app.js';

const ROUNDS = timesOf(2_000, 200);
/** A failure prints the seed and the smallest input that fails; put the seed here to see it again. */
const parameters = {
  numRuns: ROUNDS,
  ...(process.env.FUZZ_SEED && { seed: Number(process.env.FUZZ_SEED) }),
};

const app = useTestApp();
/** Whatever came before, the next valid request is served. */
afterEach(async () => {
  expect((await create(app)).status).toBe(201);
  expect((await list(app)).status).toBe(200);
});

const oddText = fc.oneof(
  fc.constantFrom(
    ...'2026-02-30 0001-01-01 9999-12-31T24:00 1 0 -1 1e400 % %zz %00 %ff %31 \ud800 __proto__'.split(' '),
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const name = fc.oneof(fc.constantFrom('projectId', 'duration', 'description', 'date'), oddText);
const oddLog = fc
  .tuple(
    fc.dictionary(name, fc.oneof(fc.jsonValue({ stringUnit: 'binary' }), oddText), { maxKeys: 3 }),
    fc.nat(3),
  )
  .map(([members, kept]) => ({ ...Object.fromEntries(Object.entries(LOG).slice(0, 4 - kept)), ...members }));

it('makes the log that a body states, or refuses it, and lists what was made', async () => {
  let made = 0;
  const property = fc.asyncProperty(fc.oneof(oddLog, fc.jsonValue({ maxDepth: 9 })), async (value) => {
    const body = JSON.stringify(value);
    const answer = await create(app, body);
    if (answer.status === 400) return;
    expect(answer.status).toBe(201);
    made++;
    const sent = JSON.parse(body) as typeof LOG;
    const created = dataOf(answer) as Made;
    expect(created).toEqual(expectedLog(sent, created));
    expect(await send(app, `${TIME_LOGS}/${String(created.id)}`)).toMatchObject({ body: { data: created } });
  });
  await fc.assert(property, parameters);
  expect(made).toBeGreaterThan(0);
});

it('reads or refuses a body whose bytes are damaged', async () => {
  const damage = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(damage, async (damages) => {
    const body = Buffer.from(JSON.stringify(LOG));
    for (const [at, byte] of damages) body[at % body.length] = byte;
    expect([201, 400]).toContain((await create(app, body)).status);
  });
  await fc.assert(property, parameters);
});

it.each(['', '/totals', '/events', '/export'])('applies or refuses every query of %s', async (path) => {
  const parameter = fc.tuple(
    fc.oneof(
      fc.constantFrom(...'projectId from to by page limit lastEventId format page[]'.split(' ')),
      oddText,
    ),
    oddText,
  );
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
  const query = fc
    .tuple(fc.array(parameter, { maxLength: 3 }), fc.boolean())
    .map(([list, isRaw]) =>
      list
        .map(([key, value]) => `${encoded(key)}=${isRaw ? value.replaceAll(/[^!-~]/g, '') : encoded(value)}`)
        .join('&'),
    );
  const property = fc.asyncProperty(query, async (text) => {
    const { status } = await send(app, `${TIME_LOGS}${path}?${text.replaceAll('#', '')}`);
    expect([200, 400]).toContain(status);
  });
  await fc.assert(property, { ...parameters, numRuns: ROUNDS / 4 });
});

it('answers odd methods, paths and headers in the form of the contract', async () => {
  const line = fc.tuple(
    fc.constantFrom(...'GET POST HEAD PUT PATCH DELETE OPTIONS TRACE PROPFIND QUERY get GETX'.split(' ')),
    fc.array(fc.constantFrom(...String.raw`api v1 time-logs livez . .. %2e %2F % %00 ;a \ *`.split(' ')), {
      maxLength: 5,
    }),
  );
  const header = fc.constantFrom(
    ...`Content-Type: application/json;;|Content-Encoding: gzip|Expect: more|Host: other|Range: bytes=0-1|X :y|no colon
|If-None-Match: *|Transfer-Encoding: chunked|Content-Length: -1|Upgrade: websocket|X-Long: ${'x'.repeat(9_000)}`.split(
      '|',
    ),
  );
  const statuses = new Set<number | undefined>();
  const property = fc.asyncProperty(
    line,
    fc.array(header, { maxLength: 2 }),
    async ([method, path], headers) => {
      const lines = [
        `${method} /${path.join('/')} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${app.token}`,
      ];
      const text = [...lines, ...headers, 'Connection: close', '', ''].join('\r\n');
      statuses.add((await sendBytes(app, Buffer.from(text, 'latin1')))?.status);
    },
  );
  await fc.assert(property, { ...parameters, numRuns: ROUNDS / 2 });
  expect([...statuses].filter((status) => status === undefined || status >= 500)).toEqual([]);
});
