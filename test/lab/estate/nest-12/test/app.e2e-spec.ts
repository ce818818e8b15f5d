import { randomUUID } from 'node:crypto';
import type { Server } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { type ClientProxy, ClientProxyFactory, type MicroserviceOptions } from '@nestjs/microservices';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { AppModule } from './../src/app.module.js';
import { transportOf } from './../src/transports.js';
import { TimesheetImport } from './../src/worker/timesheet-import.js';
import { WorkerModule } from './../src/worker/worker.module.js';

const AS_ADA = { 'x-api-key': 'key-of-ada' };
const work = () => ({ projectId: randomUUID(), duration: 1.5, description: 'hosted', date: '2026-01-31' });

/** With the database of DATABASE_URL, over TCP, or over NATS where NATS_URL names one. */
describe('AppModule (e2e)', () => {
  let app: INestApplication<App>;
  let client: ClientProxy;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    const options = transportOf(process.env, '127.0.0.1');
    const transport = app.connectMicroservice<MicroserviceOptions>(options);
    await app.listen(0, '127.0.0.1');
    await app.startAllMicroservices();
    if ('port' in options.options!)
      options.options.port = (transport.unwrap<Server>().address() as { port: number }).port;
    client = ClientProxyFactory.create(options as Parameters<typeof ClientProxyFactory.create>[0]);
  });
  afterAll(async () => {
    client.close();
    await app.close();
  });

  const http = () => request(app.getHttpServer());
  const send = (pattern: string, data: object) =>
    firstValueFrom(client.send<{ data: object }>(pattern, data));

  it('records a log over HTTP, approves it, and finds it with its approval', async () => {
    const log = work();
    const recorded = await http().post('/api/v1/time-logs').set(AS_ADA).send(log);
    expect(recorded.status).toBe(201);
    const { id } = (recorded.body as { data: { id: string } }).data;
    await http().post(`/approvals/${id}`).expect(401);
    await http().post(`/approvals/${id}`).set(AS_ADA).expect(201);
    const { body } = await http().get('/approvals').query({ projectId: log.projectId }).expect(200);
    expect(body).toEqual([
      { id: expect.any(Number), logId: id, approvedBy: 'ada', log: expect.objectContaining(log) },
    ]);
    expect(await send('approvals.of-project', { projectId: log.projectId })).toEqual(body);
  });

  it.each([
    ['01900000-0000-7000-8000-000000000000', 404, 'NOT_FOUND', 'there is no time log with this id', []],
    ['1', 400, 'VALIDATION_ERROR', 'id must be a UUID', [{ field: 'id', rule: 'uuid', params: {} }]],
  ])('answers errors of time logs in its own form: %s', async (id, status, title, detail, issues) => {
    const { body, type } = await http().post(`/approvals/${id}`).set(AS_ADA).expect(status);
    expect(type).toBe('application/problem+json');
    expect(body).toEqual({ status, title, detail, issues });
  });

  it('answers errors of time logs over GraphQL, which the filter of the app does not handle', async () => {
    const ask = async (id: string) => {
      const query = `{ hoursOfLog(id: "${id}") projectOfLog(id: "${id}") }`;
      return (await http().post('/graphql').send({ query }).expect(200)).body;
    };
    const { projectId, ...log } = work();
    const recorded = await send('time-log.record.v1', { timeLog: { projectId, ...log } });
    const { id } = recorded.data as { id: string };
    expect(await ask(id)).toEqual({ data: { hoursOfLog: 1.5, projectOfLog: projectId } });
    const { errors } = await ask('01900000-0000-7000-8000-000000000000');
    const message = 'there is no time log with this id';
    expect(errors).toHaveLength(2);
    const byPath = errors.toSorted((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1));
    expect(byPath).toMatchObject([
      { message, path: ['hoursOfLog'], extensions: { code: 'NOT_FOUND' } },
      { message, path: ['projectOfLog'], extensions: { code: 'INTERNAL_SERVER_ERROR' } },
    ]);
  });

  it('records and lists logs by messages', async () => {
    const timeLog = work();
    const { data } = await send('time-log.record.v1', { timeLog });
    expect(data).toMatchObject(timeLog);
    const query = { projectId: timeLog.projectId };
    expect(await send('time-log.list.v1', { query })).toMatchObject({ meta: { total: 1 } });
    await expect(send('time-log.list.v1', { qeury: query })).rejects.toMatchObject({
      error: 'VALIDATION_ERROR',
    });
  });

  it('has a copy of the hours from the events, which follows corrections', async () => {
    const log = work();
    const hours = async () => {
      const { body } = await http().get(`/hours/${log.projectId}`).set(AS_ADA).expect(200);
      return (body as { hours: number }).hours;
    };
    const { data } = await send('time-log.record.v1', { timeLog: log });
    const { id } = data as { id: string };
    await expect.poll(hours, { timeout: 30_000 }).toBe(1.5);
    const path = `/api/v1/time-logs/${id}`;
    await http()
      .put(path)
      .set(AS_ADA)
      .send({ ...log, duration: 2 })
      .expect(200);
    await expect.poll(hours, { timeout: 30_000 }).toBe(2);
    await http().delete(path).set(AS_ADA).expect(204);
    await expect.poll(hours, { timeout: 30_000 }).toBe(0);
  });

  it('reads a timesheet once, in a worker without HTTP', async () => {
    const [{ projectId }, { projectId: other }] = [work(), work()];
    const lines = [`${projectId},1.5,2026-01-31,plans, and more plans`, `${projectId},2,2026-01-30,`];
    const worker = await NestFactory.createApplicationContext(WorkerModule, { logger: false });
    try {
      const timesheets = worker.get(TimesheetImport);
      expect(await timesheets.read(projectId, lines)).toBe(2);
      expect(await timesheets.read(projectId, lines)).toBe(0);
      await expect(timesheets.read(projectId, ['nothing'])).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
      });
      const many = Array.from({ length: 10_000 }, () => `${other},1,2026-01-31,`);
      expect(await timesheets.readAll(many)).toBe(10_000);
      await expect(timesheets.readAll([...many, 'nothing'])).rejects.toThrow('timeLogs[10000]');
    } finally {
      await worker.close();
    }
    const imported = await http()
      .get('/api/v1/time-logs')
      .query({ projectId: other })
      .set(AS_ADA)
      .expect(200);
    expect(imported.body).toMatchObject({ meta: { total: 10_000 } });
    const list = await http().get('/api/v1/time-logs').query({ projectId }).set(AS_ADA).expect(200);
    expect(list.body).toMatchObject({
      data: [{ description: 'plans, and more plans' }, { duration: 2 }],
      meta: { total: 2 },
    });
  });
});
