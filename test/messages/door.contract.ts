import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOG, refusal } from '../support/requests.js';
import type { Door, Outcome } from './doors.js';

export interface OpenDoor {
  readonly door: Door;
  close(): Promise<void>;
}

/** A transport that takes bytes as they are. */
export interface OpenBytes extends OpenDoor {
  /** Records a log that is given as bytes of JSON. */
  recordBytes(timeLog: Buffer): Promise<Outcome>;
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
          data: {
            ...timeLog,
            id: expect.stringMatching(UUID),
            createdAt: expect.stringMatching(INSTANT),
          },
        },
      });
      const item: Record<string, unknown> = { ...(dataOf(recorded) as object) };
      delete item.date;
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

    it.each(['record', 'list'] as const)('are refused without a good token: %s', async (operation) => {
      for (const token of [undefined, 'bad', 'bad token', 'ü', `${accessToken},`, 'x'.repeat(5_000)]) {
        if (token === 'ü' && name === 'HTTP') continue;
        const data = { ...(token !== undefined && { accessToken: token }), timeLog: LOG };
        expect(await door[operation](data)).toEqual({ error: UNAUTHORIZED });
      }
    });

    it('need a token with the scope, before anything is validated', async () => {
      expect(await door.record({ accessToken: 'reader', timeLog: { x: 1 } })).toEqual(
        error('FORBIDDEN', 'the token lacks the scope time-logs:write'),
      );
      expect(await door.list({ accessToken: 'writer', query: { page: 0 } })).toEqual(
        error('FORBIDDEN', 'the token lacks the scope time-logs:read'),
      );
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
    ])('are not listed by a query with faults: %j', async (query, message) => {
      expect(await door.list({ accessToken, query })).toEqual({
        error: { success: false, error: 'VALIDATION_ERROR', message: expect.stringMatching(message) },
      });
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

    const described = (projectId: string, description: Buffer) => {
      const [before, after] = JSON.stringify({ ...LOG, projectId, description: '|' }).split('|');
      return opened.recordBytes(Buffer.concat([Buffer.from(before!), description, Buffer.from(after!)]));
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
      expect(await described(projectId, Buffer.from(bytes, 'hex'))).toEqual(
        invalid('the message must be valid UTF-8'),
      );
      expect(await opened.door.list({ accessToken, query: { projectId } })).toMatchObject({
        answer: { data: [], meta: { total: 0 } },
      });
    });

    it('that are UTF-8 are stored as they are', async () => {
      const projectId = randomUUID();
      const description = 'é ✓ 🕰 \ufeff \ufffd \uffff';
      await described(projectId, Buffer.from(description));
      expect(await opened.door.list({ accessToken, query: { projectId } })).toMatchObject({
        answer: { data: [{ description }] },
      });
    });
  });
}
