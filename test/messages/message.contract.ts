import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOG, refusal } from '../support/requests.js';
import type { ClientProxy } from '@nestjs/microservices';
import { TimeLogError, TimeLogMessageClient } from '../../libs/time-log-client/src/messages.js';
import type { OpenDoor } from './door.contract.js';
import type { Door } from './doors.js';

const require = createRequire(import.meta.url);
const naughtyStrings = require('big-list-of-naughty-strings') as string[];

const accessToken = 'worker';
const UNAUTHORIZED = { error: refusal('UNAUTHORIZED', 'a valid bearer token is required') };
const invalid = (message: string) => ({ error: refusal('VALIDATION_ERROR', message) });

/** A door, and what a client of it is made with. */
export interface OpenTransport extends OpenDoor {
  readonly proxy: ClientProxy;
}

/** What only messages can be: their answers are the same over every transport. */
export function describeMessages(name: string, open: () => Promise<OpenTransport>): void {
  describe(`messages over ${name}`, () => {
    let opened: OpenTransport;
    let door: Door;
    beforeAll(async () => {
      opened = await open();
      ({ door } = opened);
    });
    afterAll(() => opened.close());

    it('are recorded, listed and summed by the client', async () => {
      const client = new TimeLogMessageClient({ proxy: opened.proxy, token: accessToken });
      const projectId = randomUUID();
      const first = await client.record({ ...LOG, projectId }, { idempotencyKey: projectId });
      expect(first).toMatchObject({ ...LOG, projectId });
      expect(await client.record({ ...LOG, projectId }, { idempotencyKey: projectId })).toEqual(first);
      const second = await client.record({ ...LOG, projectId });
      const listed: string[] = [];
      for await (const { id } of client.list({ projectId }, { pageSize: 50 })) listed.push(id);
      expect(listed).toEqual([second.id, first.id]);
      expect(await client.listPage({ projectId, page: 2, limit: 1 })).toMatchObject({
        data: [{ id: first.id }],
        meta: { total: 2, page: 2, limit: 1 },
      });
      const sum = { count: 2, duration: 2 * LOG.duration };
      expect(await client.totals({ projectId, by: 'project' })).toEqual({
        data: [{ projectId, ...sum }],
        meta: { ...sum, total: 1, page: 1, limit: 50 },
      });
    });

    it('are refused with the errors of the client', async () => {
      const refused = async (token: string, log: typeof LOG) =>
        new TimeLogMessageClient({ proxy: opened.proxy, token }).record(log).then(
          () => undefined,
          (error: unknown) => error,
        );
      const invalid = await refused(accessToken, { ...LOG, duration: 0 });
      expect(invalid).toBeInstanceOf(TimeLogError);
      expect(invalid).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: 'duration must be a positive number',
        isOutcomeUnknown: false,
      });
      expect(await refused('bad', LOG)).toMatchObject({ code: 'UNAUTHORIZED' });
      expect(await refused('reader', LOG)).toMatchObject({ code: 'FORBIDDEN' });
    });

    it.each(['record', 'list', 'totals'] as const)('need a token in an object: %s', async (operation) => {
      for (const data of [[], [{ accessToken }], 'worker', 7, true, {}]) {
        expect(await door[operation](data)).toEqual(UNAUTHORIZED);
      }
      for (const token of [
        null,
        7,
        [accessToken],
        { accessToken },
        '',
        ' worker',
        'worker ',
        'Bearer worker',
      ]) {
        expect(await door[operation]({ accessToken: token, timeLog: LOG })).toEqual(UNAUTHORIZED);
      }
    });

    it.each([undefined, null, [], [LOG], 'x', 7])('need a log that is an object: %j', async (timeLog) => {
      const outcome = await door.record({ accessToken, ...(timeLog !== undefined && { timeLog }) });
      expect(outcome).toEqual(invalid('timeLog must be an object'));
    });

    it.each([null, [], 'x', 7])('take no query but an object: %j', async (query) => {
      expect(await door.list({ accessToken, query })).toEqual(invalid('query must be an object'));
      expect(await door.totals({ accessToken, query })).toEqual(invalid('query must be an object'));
    });

    it('name unknown members at every level', async () => {
      expect(await door.record({ accessToken, timeLog: { ...LOG, inner: 1 }, outer: 1 })).toEqual(
        invalid('unknown field: inner; unknown field: outer'),
      );
      expect(await door.list({ accessToken, query: { inner: 1 }, timeLog: LOG })).toEqual(
        invalid('unknown field: inner; unknown field: timeLog'),
      );
    });

    it('name at most three unknown members, after all other faults', async () => {
      const names = { a: 1, b: 1, ['c'.repeat(41)]: 1, d: 1 };
      const last = `unknown field: a; unknown field: b; unknown field: ${'c'.repeat(40)}`;
      const timeLog = { ...LOG, duration: 0, ...names };
      const recorded = await door.record({ accessToken, timeLog, idempotencyKey: '', x: 1, y: 1, z: 1 });
      const faults = 'duration must be a positive number; Idempotency-Key must ';
      expect(recorded).toEqual({
        error: {
          success: false,
          error: 'VALIDATION_ERROR',
          message: expect.stringMatching(new RegExp(`^${faults}[^;]*; ${last}$`)),
        },
      });
      expect(await door.list({ accessToken, query: { a: 1, b: 1 }, x: 1, y: 1 })).toEqual(
        invalid('unknown field: a; unknown field: b; unknown field: x'),
      );
    });

    it('take no null for what may be left out', async () => {
      const { error } = (await door.record({ accessToken, idempotencyKey: null, timeLog: LOG })) as {
        error: object;
      };
      expect(error).toMatchObject({ error: 'VALIDATION_ERROR' });
      expect(
        await door.list({
          accessToken,
          query: { projectId: null, from: null, to: null, page: null, limit: null },
        }),
      ).toMatchObject({
        error: {
          error: 'VALIDATION_ERROR',
          message: expect.stringMatching(/^projectId .*; from .*; to .*; page .*; limit /),
        },
      });
    });

    it('are bounded in bytes and depth', async () => {
      const large = { accessToken, timeLog: { ...LOG, description: 'x'.repeat(65_536) } };
      expect(await door.record(large)).toEqual({
        error: refusal('PAYLOAD_TOO_LARGE', 'the message must be at most 65536 bytes of JSON'),
      });
      let deep: unknown = 1;
      for (let level = 0; level < 1_000; level++) deep = [deep];
      expect(await door.record({ accessToken, timeLog: { ...LOG, description: deep } })).toEqual(
        invalid('the message must not be nested deeper than 9 levels'),
      );
    });

    it('with naughty strings are kept as they are, or refused', async () => {
      const outcomes = new Map<string, number>();
      for (const text of [...naughtyStrings, 'a\0b', '\uD800', '\uFFFE', '..']) {
        const recorded = await door.record({ accessToken, timeLog: { ...LOG, description: text } });
        const answer = 'answer' in recorded ? (recorded.answer as { data: object }) : undefined;
        if (answer) expect(answer.data).toMatchObject({ description: text });
        else expect(recorded).toMatchObject({ error: { error: 'VALIDATION_ERROR' } });
        expect(await door.record({ accessToken: text, timeLog: LOG })).toEqual(UNAUTHORIZED);
        expect(await door.record({ accessToken, timeLog: LOG, [text]: 1 })).toMatchObject({
          error: {
            error: 'VALIDATION_ERROR',
            message: expect.stringMatching(/unknown field: |timeLog |acc/),
          },
        });
        outcomes.set(answer ? 'kept' : 'refused', (outcomes.get(answer ? 'kept' : 'refused') ?? 0) + 1);
      }
      expect(outcomes.get('kept')).toBeGreaterThan(400);
      expect(outcomes.get('refused')).toBe(2);
    });
  });
}
