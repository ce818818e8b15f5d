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
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import type { App } from 'supertest/types';
import { AppModule } from './../src/app.module';

const accessToken = 'token-of-ada';
const work = () => ({ projectId: randomUUID(), duration: 1.5, description: 'hosted', date: '2026-01-31' });

/** With the database of DATABASE_URL. */
describe('AppModule (e2e)', () => {
  let app: INestApplication<App>;
  let client: ClientProxy;

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

  const http = () => request(app.getHttpServer());
  const send = (pattern: string, data: object) =>
    firstValueFrom(client.send<{ data: object }>(pattern, data));

  it('records a log over HTTP, approves it, and finds it with its approval', async () => {
    const log = work();
    const recorded = await http().post('/api/v1/time-logs').auth(accessToken, { type: 'bearer' }).send(log);
    expect(recorded.status).toBe(201);
    const { id } = (recorded.body as { data: { id: string } }).data;
    await http().post(`/approvals/${id}`).expect(401);
    await http().post(`/approvals/${id}`).auth(accessToken, { type: 'bearer' }).expect(201);
    const { body } = await http().get('/approvals').query({ projectId: log.projectId }).expect(200);
    expect(body).toEqual([
      { id: expect.any(Number), logId: id, approvedBy: 'ada', log: expect.objectContaining(log) },
    ]);
    expect(await send('approvals.of-project', { projectId: log.projectId })).toEqual(body);
  });

  it('records and lists logs by messages', async () => {
    const timeLog = work();
    const { data } = await send('time-log.record.v1', { accessToken, timeLog });
    expect(data).toMatchObject(timeLog);
    const query = { projectId: timeLog.projectId };
    expect(await send('time-log.list.v1', { accessToken, query })).toMatchObject({ meta: { total: 1 } });
    await expect(send('time-log.list.v1', { query })).rejects.toMatchObject({ error: 'UNAUTHORIZED' });
  });
});
