import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { TimeLogError } from '../../libs/time-log-client/src/index.js';
import { TimeLogMessageClient } from '../../libs/time-log-client/src/messages.js';
import type { TestClient } from './test-clients.js';
import { LOG, refusal } from '../support/requests.js';

/** A transport, as clients find it. */
export interface OpenTransport {
  readonly testClient: TestClient;
  readonly proxy: ClientProxy;
  close(): Promise<void>;
}

const accessToken = 'worker';

/** Checks parts of messages that a transport might change. The other rules for them are in tcp.e2e.ts. */
export function describeMessages(name: string, open: () => Promise<OpenTransport>): void {
  describe(`messages over ${name}`, () => {
    let opened: OpenTransport;
    beforeAll(async () => {
      opened = await open();
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

    it('are refused in the form of all errors', async () => {
      expect(await opened.testClient.record({ accessToken: 'bad', timeLog: LOG })).toEqual({
        error: refusal('UNAUTHORIZED', 'a valid bearer token is required'),
      });
      expect(await opened.testClient.list({ accessToken, query: { page: 0 } })).toEqual({
        error: refusal('VALIDATION_ERROR', 'page must be a whole number from 1 to 2^53-1'),
      });
      const client = new TimeLogMessageClient({ proxy: opened.proxy, token: accessToken });
      const error = await client.record({ ...LOG, duration: 0 }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TimeLogError);
      expect(error).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: 'duration must be a positive number',
        isOutcomeUnknown: false,
      });
    });

    it('are texts, which are stored as they are', async () => {
      const projectId = randomUUID();
      const description = 'é ✓ 🕰 \ufeff \ufffd \uffff';
      await opened.testClient.record({ accessToken, timeLog: { ...LOG, projectId, description } });
      expect(await opened.testClient.list({ accessToken, query: { projectId } })).toMatchObject({
        answer: { data: [{ description }], meta: { total: 1 } },
      });
    });

    it('are refused where they are too large', async () => {
      const data = { accessToken, timeLog: { ...LOG, description: 'x'.repeat(70_000) } };
      expect(await opened.testClient.record(data)).toEqual({
        error: refusal('PAYLOAD_TOO_LARGE', 'the message must be at most 65536 bytes of JSON'),
      });
    });
  });
}
