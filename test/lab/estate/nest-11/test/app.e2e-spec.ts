import { randomUUID } from 'node:crypto';
import type { Server } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import {
  type ClientProxy,
  ClientProxyFactory,
  type MicroserviceOptions,
  Transport,
} from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { getRepositoryToken } from '@nestjs/typeorm';
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import type { App } from 'supertest/types';
import { TimeLogHealth } from 'time-logs/time-log';
import type { Repository } from 'typeorm';
import { AppModule } from './../src/app.module';
import { AuditEntry } from './../src/time-logs/audit-entry.entity';

const accessToken = 'token-of-ada';

/** With the databases of DATABASE_URL and PARTNER_DATABASE_URL. */
describe('AppModule (e2e)', () => {
  let app: INestApplication<App>;
  let client: ClientProxy;
  let projectId: string;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    const options = { host: '127.0.0.1', port: 0 };
    const transport = app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options });
    await app.listen(0, '127.0.0.1');
    await app.startAllMicroservices();
    const { port } = transport.unwrap<Server>().address() as { port: number };
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { ...options, port } });
  });
  afterAll(async () => {
    client.close();
    await app.close();
  });
  beforeEach(async () => {
    projectId = randomUUID();
    await send('POST', '/projects', { id: projectId, name: 'Apollo' }).expect(201);
  });

  const http = () => request(app.getHttpServer());
  const send = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
    token = accessToken,
  ) => http()[method.toLowerCase() as 'get'](path).auth(token, { type: 'bearer' }).send(body);
  const work = (more: object = {}) => ({
    ...{ projectId, duration: 1.5, description: 'hosted', date: '2026-01-31' },
    ...more,
  });
  const record = async (more?: object, path = '/api/v1/time-logs') => {
    const { body, status } = await send('POST', path, work(more));
    expect(status).toBe(201);
    return (body as { data: { id: string } }).data.id;
  };
  const message = (pattern: string, data: object) =>
    firstValueFrom(client.send<{ data: object }>(pattern, data));
  const refusal = (error: string, text: string) => ({ success: false, error, message: text });

  it('records and lists logs by messages', async () => {
    const timeLog = work();
    const { data } = await message('time-log.record.v1', { accessToken, timeLog });
    expect(data).toMatchObject(timeLog);
    const query = { projectId };
    expect(await message('time-log.list.v1', { accessToken, query })).toMatchObject({ meta: { total: 1 } });
    await expect(message('time-log.list.v1', { query })).rejects.toMatchObject({ error: 'UNAUTHORIZED' });
  });

  it('gives each role its scopes', async () => {
    const id = await record();
    await http().get(`/api/v1/time-logs/${id}`).expect(401);
    await send('PUT', `/api/v1/time-logs/${id}`, work({ duration: 2 }), 'token-of-ben').expect(403);
    await send('PUT', `/api/v1/time-logs/${id}`, work({ duration: 2 })).expect(200);
  });

  it('takes logs of open projects alone, over HTTP and by messages', async () => {
    const unknown = { projectId: randomUUID() };
    const { body } = await send('POST', '/api/v1/time-logs', work(unknown)).expect(404);
    expect(body).toEqual(refusal('NOT_FOUND', 'there is no such project'));
    const id = await record();
    await send('PUT', `/projects/${projectId}/closed`).expect(200);
    const closed = refusal('CONFLICT', 'the project Apollo is closed');
    expect((await send('POST', '/api/v1/time-logs', work()).expect(409)).body).toEqual(closed);
    await expect(message('time-log.record.v1', { accessToken, timeLog: work() })).rejects.toEqual(closed);
    await send('DELETE', `/api/v1/time-logs/${id}`).expect(409);
  });

  const traces = async (logId: string) => {
    const entries = app.get<Repository<AuditEntry>>(getRepositoryToken(AuditEntry));
    const found = await entries.find({ where: { logId }, order: { id: 'ASC' } });
    return found.map(({ kind, userName, previous }) => [kind, userName, previous]);
  };
  const KEY = { 'Idempotency-Key': randomUUID() };
  it.each<[string, (timeLog: object) => Promise<{ data: object }>]>([
    ['over HTTP', async (log) => (await send('POST', '/api/v1/time-logs', log).expect(201)).body],
    [
      'over HTTP with a key, which is sent again',
      async (log) => {
        const post = () => send('POST', '/api/v1/time-logs', log).set(KEY).expect(201);
        const { body } = await post();
        expect((await post()).body).toEqual(body);
        return body;
      },
    ],
    ['by messages', (timeLog) => message('time-log.record.v1', { accessToken, timeLog })],
    [
      'by messages with a key, which is sent again',
      async (timeLog) => {
        const payload = { accessToken, timeLog, idempotencyKey: randomUUID() };
        const answer = await message('time-log.record.v1', payload);
        expect(await message('time-log.record.v1', payload)).toEqual({ ...answer, replayed: true });
        return answer;
      },
    ],
  ])('tells who has entered a log, and keeps a trace of each change: %s', async (_how, recordIt) => {
    const sent = work({ attributes: { ticket: 'OPS-1', enteredBy: 'eve' } });
    const attributes = { ticket: 'OPS-1', billable: true, enteredBy: 'ada' };
    const { data } = await recordIt(sent);
    expect(data).toMatchObject({ ...sent, attributes });
    const { id } = data as { id: string };
    const path = `/api/v1/time-logs/${id}`;
    const corrected = await send('PUT', path, work({ duration: 2 })).expect(200);
    expect(corrected.body).toMatchObject({ data: { duration: 2, attributes } });
    await send('DELETE', path).expect(204);
    expect(await traces(id)).toEqual([
      ['record', 'ada', null],
      ['correct', 'ada', expect.objectContaining({ duration: 1.5, attributes })],
      ['delete', 'ada', expect.objectContaining({ duration: 2, attributes })],
    ]);
  });

  it('tells those apart who record at once', async () => {
    const users = Array.from({ length: 30 }, (_, index) => (index % 3 ? 'ada' : 'ben'));
    const answers = await Promise.all(
      users.map((user) => send('POST', '/api/v1/time-logs', work(), `token-of-${user}`).expect(201)),
    );
    const recorded = answers.map(({ body }) => (body as { data: { id: string } }).data.id);
    const found = await Promise.all(recorded.map(traces));
    expect(found).toEqual(users.map((user) => [['record', user, null]]));
  });

  it('keeps attributes, and finds logs by them under the path of time logs', async () => {
    const ticket = `OPS-${Date.now()}`;
    const id = await record({ attributes: { ticket } });
    const { body } = await send('GET', `/api/v1/time-logs/${id}`).expect(200);
    expect(body).toMatchObject({ data: { attributes: { ticket, billable: true } } });
    const found = await send('GET', `/api/v1/time-logs/of-ticket/${ticket}`).expect(200);
    expect(found.body).toMatchObject([{ id, attributes: { ticket, billable: true } }]);
    const wrong = await send('POST', '/api/v1/time-logs', work({ attributes: { ticket: 'later' } }));
    expect([wrong.status, wrong.body]).toEqual([
      400,
      refusal('VALIDATION_ERROR', 'attributes.ticket must be a ticket, such as OPS-12'),
    ]);
  });

  it('tells the hours of a project in its own words', async () => {
    for (const [duration, date] of [
      [0.1, '2026-01-31'],
      [0.2, '2026-01-30'],
      [1, '2026-02-01'],
    ])
      await record({ duration, date });
    const { body } = await send('GET', `/projects/${projectId}/hours`).expect(200);
    expect(body).toMatchObject({
      hours: '1.3',
      months: [
        { from: '2026-02-01', duration: '1' },
        { from: '2026-01-01', duration: '0.3' },
      ],
    });
  });

  it('tells its health and its measures', async () => {
    const healthy = await http().get('/health').expect(200);
    expect(healthy.body).toMatchObject({ status: 'ok', details: { 'time-logs': { status: 'up' } } });
    jest.spyOn(TimeLogHealth.prototype, 'check').mockRejectedValueOnce(new Error('no database'));
    const down = await http().get('/health').expect(503);
    expect(down.body).toMatchObject({ status: 'error', error: { 'time-logs': { status: 'down' } } });
    const { text } = await http().get('/metrics').expect(200);
    expect(text).toMatch(/^database_pool_connections/m);
  });

  it('keeps the logs of its partner apart, with fewer routes', async () => {
    const id = await record({ projectId: randomUUID() }, '/partner/v1/time-logs');
    await send('GET', `/partner/v1/time-logs/${id}`).expect(200);
    await send('GET', `/api/v1/time-logs/${id}`).expect(404);
    await send('DELETE', `/partner/v1/time-logs/${id}`).expect(404);
  });
});
