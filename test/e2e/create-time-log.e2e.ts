import { describe, expect, it } from '@jest/globals';
import { expectedLog } from '../support/expected-logs.js';
import { rawRequest } from '../support/raw-http.js';
import {
  create,
  list,
  LOG,
  outcome,
  PROJECT,
  refusal,
  send,
  sendBytes,
  TIME_LOGS,
} from '../support/requests.js';
import { useTestApp } from '../support/test-app.js';

const DURATION = 'duration must be a positive number';
const PROJECT_ID = 'projectId must be a UUID';
const DATE = 'date must be an existing day in the form YYYY-MM-DD';
const LIMIT = 64 * 1024;
const MARKER = 'marker7f3a';

const app = useTestApp();

/** The body of a create as text, with one member replaced by text that is sent as it is. */
function withRaw(member: string, text: string): string {
  const members = Object.entries(LOG).filter(([name]) => name !== member);
  return `{${[...members.map(([name, value]) => `"${name}":${JSON.stringify(value)}`), `"${member}":${text}`].join()}}`;
}

function without(...members: string[]): object {
  return Object.fromEntries(Object.entries(LOG).filter(([name]) => !members.includes(name)));
}

/** The members of the log that an answer holds. */
function logIn({ body }: { body: unknown }): Record<string, unknown> & { id: string; createdAt: string } {
  return (body as { data: Record<string, unknown> & { id: string; createdAt: string } }).data;
}

const isInvalid = (message: string) => [400, refusal('VALIDATION_ERROR', message)];
const isCreated = (values: object) => [201, { success: true, data: expectedLog({ ...LOG, ...values }) }];

describe('POST /api/v1/time-logs', () => {
  it('answers with the log that was made', async () => {
    const before = Date.now();
    const answer = await create(app);
    const { id, createdAt } = logIn(answer);
    expect(outcome(answer)).toEqual([201, { success: true, data: expectedLog(LOG, { id, createdAt }) }]);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(createdAt)).toBe(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
  });

  it('takes a log without a description as one with an empty description', async () => {
    expect(outcome(await create(app, without('description')))).toEqual(isCreated({ description: '' }));
    expect(outcome(await create(app, { ...LOG, description: '' }))).toEqual(isCreated({ description: '' }));
  });

  describe('projectId', () => {
    it.each([
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '11111111-1111-1111-1111-111111111111',
      '3F2504E0-4F89-41D3-9A0C-0305E82C3301',
      'AbCdEf01-2345-0789-cabc-DEF012345678',
    ])('takes %s and answers in lower case', async (projectId) => {
      const answer = await create(app, { ...LOG, projectId });
      expect(outcome(answer)).toEqual(isCreated({ projectId: projectId.toLowerCase() }));
    });

    it.each([
      ['""'],
      ['null'],
      ['5'],
      ['["3f2504e0-4f89-41d3-9a0c-0305e82c3301"]'],
      ['"3f2504e04f8941d39a0c0305e82c3301"'],
      ['"{3f2504e0-4f89-41d3-9a0c-0305e82c3301}"'],
      ['"urn:uuid:3f2504e0-4f89-41d3-9a0c-0305e82c3301"'],
      ['"3f2504e0-4f89-41d3-9a0c-0305e82c330"'],
      ['"3f2504e0-4f89-41d3-9a0c-0305e82c3301\\n"'],
      ['" 3f2504e0-4f89-41d3-9a0c-0305e82c3301"'],
      ['"3f2504g0-4f89-41d3-9a0c-0305e82c3301"'],
    ])('refuses %s', async (text) => {
      expect(outcome(await create(app, withRaw('projectId', text)))).toEqual(isInvalid(PROJECT_ID));
    });
  });

  describe('duration', () => {
    it.each([
      '0.1',
      '1e-7',
      '5e-324',
      '1.7976931348623157e308',
      '9007199254740993',
      '123456789012345680000',
      '0.1000000000000000055511151231257827',
      '1.0',
      '1E2',
      '8',
      '0.30000000000000004',
    ])('keeps %s as the number that it is', async (text) => {
      const answer = await create(app, withRaw('duration', text));
      expect(outcome(answer)).toEqual(isCreated({ duration: Number(text) }));
      const [row] = await app.dataSource.query<{ same: boolean }[]>(
        'select duration = $2::numeric as same from time_logs where id = $1',
        [logIn(answer).id, String(Number(text))],
      );
      expect(row).toEqual({ same: true });
    });

    it('sums exactly in SQL', async () => {
      const ids = [0.1, 0.2].map(async (duration) => logIn(await create(app, { ...LOG, duration })).id);
      const rows = await app.dataSource.query<unknown[]>(
        'select sum(duration)::text as sum from time_logs where id = any($1)',
        [await Promise.all(ids)],
      );
      expect(rows).toEqual([{ sum: '0.3' }]);
    });

    it.each(['null', '"5"', '0', '-1', '-0', '1e400', '-1e400', '1e-400', 'true', '[]', '[5]', '{}', '""'])(
      'refuses %s with the one message',
      async (text) => {
        expect(outcome(await create(app, withRaw('duration', text)))).toEqual(isInvalid(DURATION));
      },
    );

    it('refuses a log without it with the same message', async () => {
      expect(outcome(await create(app, without('duration')))).toEqual(isInvalid(DURATION));
    });
  });

  describe('description', () => {
    it.each([
      ['emoji', '👩‍👩‍👧 done 🎉'],
      ['line ends', 'one\r\ntwo\nthree\rfour\u2028five'],
      ['spaces around', '  \t spaced \u00a0 '],
      ['nothing but a space', ' '],
      ['control characters', '\u0001\u001b[31m\u007f\u0085'],
      ['text that is not normalised', 'e\u0301 \u00e9 \ufb01'],
      ['a byte order mark', '\ufeffmark'],
      ['noncharacters', '\uffff\ufffe\u{10ffff}'],
      ['markup and SQL', `<b>'; drop table time_logs; -- \\ "%s" $1`],
      ['5000 astral characters', '𝄞'.repeat(5000)],
      ['5000 characters', 'x'.repeat(5000)],
    ])('keeps %s exactly', async (_what, description) => {
      const answer = await create(app, { ...LOG, description });
      expect(outcome(answer)).toEqual(isCreated({ description }));
      const rows = await app.dataSource.query<{ bytes: Buffer }[]>(
        `select convert_to(description, 'UTF8') as bytes from time_logs where id = $1`,
        [logIn(answer).id],
      );
      expect(rows[0]!.bytes.equals(Buffer.from(description))).toBe(true);
    });

    it.each([
      ['null', 'null', 'description must be a string'],
      ['a number', '5', 'description must be a string'],
      ['a list', '["x"]', 'description must be a string'],
      ['5001 characters', `"${'x'.repeat(5001)}"`, 'description must be at most 5000 characters'],
      ['5001 astral characters', `"${'𝄞'.repeat(5001)}"`, 'description must be at most 5000 characters'],
      ['U+0000', '"a\\u0000b"', 'description must not contain U+0000'],
      ['a lone high surrogate', '"a\\ud800b"', 'description must not contain lone surrogates'],
      ['a lone low surrogate', '"\\udc00"', 'description must not contain lone surrogates'],
      ['surrogates in the wrong order', '"\\udc00\\ud800"', 'description must not contain lone surrogates'],
    ])('refuses %s', async (_what, text, message) => {
      expect(outcome(await create(app, withRaw('description', text)))).toEqual(isInvalid(message));
    });
  });

  describe('date', () => {
    it.each([
      '0001-01-01',
      '9999-12-31',
      '2024-02-29',
      '2000-02-29',
      '0004-02-29',
      '1582-10-10',
      '2011-12-30',
    ])('takes %s', async (date) => {
      const answer = await create(app, { ...LOG, date });
      expect(outcome(answer)).toEqual(isCreated({ date }));
      const rows = await app.dataSource.query<unknown[]>(
        `select to_char(date, 'YYYY-MM-DD') as date from time_logs where id = $1`,
        [logIn(answer).id],
      );
      expect(rows).toEqual([{ date }]);
    });

    it.each([
      '"2026-02-30"',
      '"2023-02-29"',
      '"1900-02-29"',
      '"2026-04-31"',
      '"2026-13-01"',
      '"2026-00-10"',
      '"2026-01-00"',
      '"0000-01-01"',
      '"10000-01-01"',
      '"-0001-01-01"',
      '"2026-1-1"',
      '"20260131"',
      '"31.01.2026"',
      '"2026-01-31T00:00:00Z"',
      '"2026-01-31 "',
      '"2026-01-31\\n"',
      '"２０２６-01-31"',
      '"infinity"',
      '"today"',
      '""',
      'null',
      '20260131',
      '{}',
    ])('refuses %s', async (text) => {
      expect(outcome(await create(app, withRaw('date', text)))).toEqual(isInvalid(DATE));
    });
  });

  describe('members of the body', () => {
    it.each([
      [{}, `${PROJECT_ID}; ${DURATION}; ${DATE}`],
      [
        { zeta: 1, date: 'x', description: 5, duration: 0, projectId: 'x' },
        `${PROJECT_ID}; ${DURATION}; description must be a string; ${DATE}; unknown field: zeta`,
      ],
      [{ ...without('projectId', 'date') }, `${PROJECT_ID}; ${DATE}`],
      [{ id: PROJECT, ...LOG }, 'unknown field: id'],
      [{ ...LOG, createdAt: '2026-01-31T00:00:00.000Z' }, 'unknown field: createdAt'],
      [{ ...LOG, project_id: PROJECT, Duration: 1 }, 'unknown field: project_id; unknown field: Duration'],
      [{ ...LOG, a: 1, b: 2, c: 3, d: 4 }, 'unknown field: a; unknown field: b; unknown field: c'],
      [{ ...LOG, ['n'.repeat(41)]: 1 }, `unknown field: ${'n'.repeat(40)}`],
    ])('names what is wrong in the order of the fields (%#)', async (body, message) => {
      expect(outcome(await create(app, body))).toEqual(isInvalid(message));
    });

    it('names an unknown field in printable ASCII alone', async () => {
      const { status, body } = await create(app, { ...LOG, 'a\r\nSet-Cookie: é\u0000\u001b': 1 });
      expect(status).toBe(400);
      expect((body as { message: string }).message).toMatch(/^unknown field: a[\x20-\x7e]+$/);
    });

    it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
      'takes %s for an unknown field',
      async (name) => {
        const valid = JSON.stringify(LOG).slice(1, -1);
        const answer = await create(app, `{"${name}":{"duration":5},${valid}}`);
        expect(outcome(answer)).toEqual(isInvalid(`unknown field: ${name}`));
        expect(({} as { duration?: number }).duration).toBeUndefined();
      },
    );

    it('never takes a field from a prototype', async () => {
      const answer = await create(app, `{"__proto__":${JSON.stringify(LOG)}}`);
      const message = `${PROJECT_ID}; ${DURATION}; ${DATE}; unknown field: __proto__`;
      expect(outcome(answer)).toEqual(isInvalid(message));
    });

    it('lets the last of repeated members count', async () => {
      const rest = JSON.stringify(without('duration')).slice(1, -1);
      const good = await create(app, `{"duration":-1,${rest},"duration":2}`);
      expect(outcome(good)).toEqual(isCreated({ duration: 2 }));
      const bad = await create(app, `{"duration":2,${rest},"duration":-1}`);
      expect(outcome(bad)).toEqual(isInvalid(DURATION));
    });

    it.each([
      withRaw('projectId', `"${MARKER}"`),
      withRaw('duration', `"${MARKER}"`),
      withRaw('date', `"${MARKER}"`),
      withRaw('description', `["${MARKER}"]`),
      withRaw('description', `"${MARKER}\\u0000"`),
      withRaw('extra', `"${MARKER}"`),
      `{"duration": ${MARKER}}`,
      `"${MARKER}"`,
      MARKER,
    ])('says nothing that was sent as a value (%#)', async (body) => {
      const answer = await create(app, body);
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain(MARKER);
    });

    it('stores nothing of what it refuses', async () => {
      const projectId = 'c0ffee00-0000-4000-8000-000000000001';
      await create(app, { ...LOG, projectId, duration: 0 });
      await create(app, { ...LOG, projectId, extra: 1 });
      const { body } = await list(app, `projectId=${projectId}`);
      expect(body).toEqual({ success: true, data: [], meta: { total: 0, page: 1, limit: 50 } });
    });
  });

  describe('the body as a whole', () => {
    const isJson = 'the request body must be valid JSON';
    const isObject = 'the request body must be a JSON object';
    const isShallow = 'the request body must not be nested deeper than 8 levels';
    const isUtf8 = 'the request body must be valid UTF-8';
    const nested = (levels: number) => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

    it.each([
      ['nothing', '', isJson],
      ['a space', ' ', isJson],
      ['half an object', '{"duration":', isJson],
      ['a trailing comma', '{"duration":1,}', isJson],
      ['single quotes', "{'duration':1}", isJson],
      ['NaN', '{"duration":NaN}', isJson],
      ['two objects', '{}{}', isJson],
      ['a raw line end in a string', '{"description":"a\nb"}', isJson],
      ['a byte order mark', `\ufeff${JSON.stringify(LOG)}`, isJson],
      ['bytes that are not UTF-8', Buffer.from('{"description":"\xff"}', 'latin1'), isUtf8],
      ['an overlong form', Buffer.from('{"description":"\xc0\xaf"}', 'latin1'), isUtf8],
      ['surrogates in UTF-8', Buffer.from('{"description":"\xed\xa0\x80"}', 'latin1'), isUtf8],
      ['UTF-16', Buffer.from(`\ufeff${JSON.stringify(LOG)}`, 'utf16le'), isUtf8],
      ['a list', JSON.stringify([LOG]), isObject],
      ['a string', '"x"', isObject],
      ['a number', '5', isObject],
      ['null', 'null', isObject],
      ['true', 'true', isObject],
      ['nine levels', nested(9), isShallow],
      ['30,000 levels', nested(30_000), isShallow],
      ['eight levels', nested(8), `${PROJECT_ID}; ${DURATION}; ${DATE}; unknown field: x`],
    ])('refuses %s', async (_what, body, message) => {
      expect(outcome(await create(app, body))).toEqual(isInvalid(message));
    });

    it('refuses 30,000 nested arrays and serves on', async () => {
      const { status, body } = await create(app, `${'['.repeat(30_000)}${']'.repeat(30_000)}`);
      expect([status, (body as { error: string }).error]).toEqual([400, 'VALIDATION_ERROR']);
      expect((await create(app)).status).toBe(201);
    });

    const tooLarge = [413, refusal('PAYLOAD_TOO_LARGE', `the request body must be at most ${LIMIT} bytes`)];

    it.each([
      ['in one piece', (text: string) => text],
      ['in chunks', (text: string) => new Blob([text]).stream()],
    ])('takes up to 64 KiB %s', async (_how, shaped) => {
      const valid = JSON.stringify(LOG);
      expect(outcome(await create(app, shaped(valid.padEnd(LIMIT))))).toEqual(isCreated({}));
      expect(outcome(await create(app, shaped(valid.padEnd(LIMIT + 1))))).toEqual(tooLarge);
      expect(outcome(await create(app, shaped(valid.padEnd(20 * LIMIT))))).toEqual(tooLarge);
    });

    it('refuses an announced length without waiting for the body', async () => {
      const head = rawRequest(
        `POST ${TIME_LOGS} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${app.token}`,
        'Content-Type: application/json',
        `Content-Length: ${LIMIT + 1}`,
      );
      expect(outcome((await sendBytes(app, head))!)).toEqual(tooLarge);
    });
  });

  describe('the media type', () => {
    const notJson = refusal('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json in UTF-8');
    const encoded = refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Content-Encoding must be identity: send the body uncompressed',
    );

    it.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'Application/JSON; Charset=Utf-8',
      'application/json; profile="x"',
    ])('takes %s', async (type) => {
      expect(outcome(await create(app, LOG, { 'content-type': type }))).toEqual(isCreated({}));
    });

    it.each([
      'text/plain',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/vnd.api+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'application/json, application/json',
      'application/jsonp',
      'json',
      '',
    ])('refuses "%s"', async (type) => {
      const answer = await create(app, Buffer.from(JSON.stringify(LOG)), { 'content-type': type });
      expect(outcome(answer)).toEqual([415, notJson]);
    });

    it('refuses a body without a type, and no body at all', async () => {
      const body = Buffer.from(JSON.stringify(LOG));
      expect(outcome(await create(app, body, { 'content-type': undefined }))).toEqual([415, notJson]);
      expect(outcome(await send(app, TIME_LOGS, { method: 'POST' }))).toEqual([415, notJson]);
    });

    it('refuses a type that is given twice, the second of which nobody would read', async () => {
      const body = JSON.stringify(LOG);
      const head = rawRequest(
        `POST ${TIME_LOGS} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${app.token}`,
        'Content-Type: application/json',
        'content-type: text/plain',
        `Content-Length: ${body.length}`,
      );
      expect(outcome((await sendBytes(app, head + body))!)).toEqual([
        415,
        refusal('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must not be repeated'),
      ]);
    });

    it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'zstd'])(
      'refuses the encoding %s',
      async (encoding) => {
        expect(outcome(await create(app, LOG, { 'content-encoding': encoding }))).toEqual([415, encoded]);
      },
    );

    it.each(['identity', 'Identity'])('takes the encoding %s', async (encoding) => {
      expect(outcome(await create(app, LOG, { 'content-encoding': encoding }))).toEqual(isCreated({}));
    });
  });
});
