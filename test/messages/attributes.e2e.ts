import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClientProxy } from '@nestjs/microservices';
import { z } from 'zod';
import { TimeLogClient } from '../../libs/time-log-client/src/index.js';
import { TimeLogMessageClient } from '../../libs/time-log-client/src/messages.js';
import { TimeLogModule } from '../../libs/host-kit/src/index.js';
import { TimeLogMessagesModule } from '../../libs/messages/src/time-logs/index.js';
import { CopyingPipe, hostDataSource, portOf, tcpPortOf, useHosts } from '../host/embedded.js';
import { expectedLog } from '../support/expected-logs.js';
import { LOG, refusal } from '../support/requests.js';
import { type Door, overHttp, overTransport, tcpClient } from './doors.js';

/** Its own output is no input to it. */
const ATTRIBUTES = z
  .strictObject({ minutes: z.string().optional(), any: z.json().optional() })
  .transform(({ minutes, any }) => ({ minutes: Number(minutes ?? 0), any }))
  .optional();

describe('a host with a schema of attributes', () => {
  const hosts = useHosts();
  let proxy: ClientProxy;
  let url: string;
  let doors: readonly Door[];

  beforeAll(async () => {
    const scopes = ['time-logs:read', 'time-logs:write', 'time-logs:correct'];
    const caller = () => ({ id: 'ada', scopes });
    const timeLogs = TimeLogModule.forRoot({ caller, attributes: ATTRIBUTES });
    const app = await hosts.serve(
      [hostDataSource(hosts.database.url), timeLogs, TimeLogMessagesModule.over(timeLogs)],
      { hasMessages: true, prepare: (it) => it.useGlobalPipes(new CopyingPipe()) },
    );
    proxy = tcpClient(tcpPortOf(app));
    url = `http://127.0.0.1:${portOf(app)}`;
    doors = [overTransport(proxy, () => undefined), overHttp(portOf(app))];
  });
  afterAll(async () => {
    await proxy.close();
  });

  const record = (door: Door, timeLog: object, idempotencyKey?: string) =>
    door.record({ timeLog: { ...LOG, ...timeLog }, ...(idempotencyKey !== undefined && { idempotencyKey }) });

  it('takes and answers them through every door', async () => {
    for (const door of doors) {
      const projectId = randomUUID();
      const sent = { projectId, attributes: { minutes: '90' } };
      const log = expectedLog({ ...LOG, projectId, attributes: { minutes: 90 } });
      expect(await record(door, sent)).toEqual({ answer: { success: true, data: log } });
      // A large page too: its answer needs the outlet of the message.
      expect(await door.list({ query: { projectId, limit: 1000 } })).toMatchObject({
        answer: { data: [{ attributes: { minutes: 90 } }] },
      });
    }
  });

  it('knows a key by what was sent, whichever door it came through', async () => {
    const [transport, http] = doors as [Door, Door];
    const [key, sent] = [randomUUID(), { attributes: { minutes: '1' } }];
    const { answer } = (await record(transport, sent, key)) as { answer: object };
    expect(answer).toMatchObject({ data: { attributes: { minutes: 1 } } });
    expect(await record(http, sent, key)).toEqual({ answer: { ...answer, replayed: true } });
    expect(await record(http, { attributes: { minutes: '1.0' } }, key)).toMatchObject({
      error: { error: 'IDEMPOTENCY_KEY_REUSED' },
    });
  });

  it('refuses them alike through every door, with all else that is wrong', async () => {
    for (const door of doors) {
      expect(await record(door, { duration: 0, attributes: { minutes: 1, foo: 1 }, foo: 1 }, ' ')).toEqual({
        error: refusal(
          'VALIDATION_ERROR',
          door === doors[0]
            ? 'duration must be a positive number; attributes.minutes Invalid input: expected string, received number; ' +
                'attributes Unrecognized key: "foo"; Idempotency-Key must be 1 to 255 printable ASCII characters; unknown field: foo'
            : 'Idempotency-Key must be 1 to 255 printable ASCII characters',
        ),
      });
      expect(await record(door, { attributes: { any: ['\0'] } })).toEqual({
        error: refusal('VALIDATION_ERROR', 'attributes must not contain U+0000'),
      });
    }
    expect(await doors[0]!.list({ query: { attributes: '{}' } })).toEqual({
      error: refusal('VALIDATION_ERROR', 'unknown field: attributes'),
    });
  });

  it('is asked through both clients, which have them in their types', async () => {
    const http = new TimeLogClient({ baseUrl: url, token: 'none' });
    const messages = new TimeLogMessageClient({ proxy, token: 'none' });
    const projectId = randomUUID();
    const values = { ...LOG, projectId, attributes: { minutes: '2' } };
    expect((await messages.record(values)).attributes).toEqual({ minutes: 2 });
    const { id } = await http.record(values);
    const log = await http.get(id);
    expect(log.attributes?.minutes).toBe(2);
    await http.correct(id, { ...values, attributes: { minutes: '3' } });
    for await (const { attributes } of http.list({ projectId }))
      expect(attributes).toMatchObject({ minutes: expect.any(Number) });
    for await (const event of http.events()) {
      if (event.type !== 'time-log.deleted' && event.data.id === id)
        expect(event.data.attributes?.minutes).toBe(3);
    }
  });
});
