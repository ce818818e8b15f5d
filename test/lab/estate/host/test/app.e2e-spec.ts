import { randomUUID } from 'node:crypto';
import type { Server } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  type MicroserviceOptions,
  Transport,
} from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { DataSource } from 'typeorm';
import { AppModule } from '../src/app.module.js';
import { ApprovalsService } from '../src/approvals/approvals.service.js';
import { Project } from '../src/projects/project.entity.js';
import { AuditEntry } from '../src/time-logs/audit-entry.entity.js';
import { TimesheetImport } from '../src/worker/timesheet-import.js';
import { WorkerModule } from '../src/worker/worker.module.js';

const PROJECT_OF_CLEO = '22222222-2222-2222-2222-222222222222';

describe('AppModule (e2e)', () => {
  let app: INestApplication<App>;
  let client: ClientProxy;
  let database: DataSource;
  let projectId: string;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    database = app.get(DataSource);
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
    await database.getRepository(Project).save({ id: projectId, name: `Apollo ${projectId}` });
  });

  const send = (
    method: 'get' | 'post' | 'put' | 'delete',
    path: string,
    body?: object,
    user: 'ada' | 'ben' | 'cleo' = 'ada',
  ) => request(app.getHttpServer())[method](path).set('x-api-key', `key-of-${user}`).send(body);
  const LOGS = '/api/v1/time-logs';
  const work = (more: object = {}) => ({
    ...{ projectId, duration: 1.5, description: 'hosted', date: '2026-01-31' },
    ...more,
  });
  const record = async (more?: object) => {
    const { body } = await send('post', LOGS, work(more)).expect(201);
    return (body as { data: { id: string } }).data.id;
  };
  const message = (pattern: string, data: object) =>
    firstValueFrom(client.send<{ data: { id: string } }>(pattern, data));
  const refusal = (error: string, text: string) => ({ success: false, error, message: text });
  const audit = async (logId: string) => {
    const entries = await database.getRepository(AuditEntry).find({ where: { logId }, order: { id: 'ASC' } });
    return entries.map(({ kind, userName, previous }) => [kind, userName, previous]);
  };

  it('shows each caller the projects that are theirs', async () => {
    await database.getRepository(Project).save({ id: PROJECT_OF_CLEO, name: 'Gemini' });
    const id = await record();
    await send('get', `${LOGS}/${id}`).expect(200);
    await send('get', `${LOGS}/${id}`, undefined, 'cleo').expect(404);
    const refused = await send('post', LOGS, work(), 'cleo').expect(403);
    expect(refused.body).toEqual(refusal('FORBIDDEN', 'the token does not allow this project'));
    await send('post', LOGS, work({ projectId: PROJECT_OF_CLEO }), 'cleo').expect(201);
    const { body } = await send('get', LOGS, undefined, 'cleo').expect(200);
    const seen = new Set(body.data.map((log: { projectId: string }) => log.projectId));
    expect([...seen]).toEqual([PROJECT_OF_CLEO]);
    const report = await send('get', '/reports/hours', undefined, 'cleo').expect(200);
    expect(report.body).toEqual([{ project: 'Gemini', hours: expect.any(String) }]);
  });

  it('writes an audit row in the transaction of each change, and one for a key that is sent again', async () => {
    const post = () => send('post', LOGS, work()).set('Idempotency-Key', projectId).expect(201);
    const { body } = await post();
    expect((await post()).body).toEqual(body);
    const { id } = (body as { data: { id: string } }).data;
    await send('put', `${LOGS}/${id}`, work({ duration: 2 })).expect(200);
    await send('delete', `${LOGS}/${id}`).expect(204);
    expect(await audit(id)).toEqual([
      ['record', 'ada', null],
      ['correct', 'ada', expect.objectContaining({ duration: 1.5 })],
      ['delete', 'ada', expect.objectContaining({ duration: 2 })],
    ]);
  });

  it('refuses logs of closed projects, over HTTP and by messages, and stores nothing of them', async () => {
    const id = await record();
    await database.getRepository(Project).update(projectId, { isClosed: true });
    const closed = refusal('CONFLICT', `the project Apollo ${projectId} is closed`);
    expect((await send('post', LOGS, work()).expect(409)).body).toEqual(closed);
    await send('delete', `${LOGS}/${id}`).expect(409);
    await expect(message('time-log.record.v1', { timeLog: work() })).rejects.toEqual(closed);
    const query = { projectId };
    expect(await message('time-log.list.v1', { query })).toMatchObject({
      data: [{ id }],
      meta: { total: 1 },
    });
    expect(await database.getRepository(AuditEntry).countBy({ projectId })).toBe(1);
  });

  it('keeps attributes, whoever sends a log, and finds logs by them', async () => {
    const ticket = `OPS-${Date.now()}`;
    const attributes = { ticket, billable: true, enteredBy: 'ada' };
    const id = await record({ attributes: { ticket, enteredBy: 'eve' } });
    for (const path of [`${LOGS}?attributes.ticket=${ticket}`, `${LOGS}/of-ticket/${ticket}`]) {
      const { body } = await send('get', path).expect(200);
      expect(body.data ?? body).toMatchObject([{ id, attributes }]);
    }
    const { data } = await message('time-log.record.v1', { timeLog: work({ attributes: { ticket } }) });
    expect(data).toMatchObject({ attributes: { ...attributes, enteredBy: 'broker' } });
    const { body } = await send('post', LOGS, work({ attributes: { ticket: 'later' } })).expect(400);
    expect(body).toEqual(refusal('VALIDATION_ERROR', 'attributes.ticket must be a ticket, such as OPS-12'));
  });

  it('records and approves a log in one transaction of its own, and relates the two', async () => {
    const log = work();
    const { body } = await send('post', '/approvals', log).expect(201);
    const { logId } = body as { logId: string };
    const approved = { id: expect.any(Number), logId, approvedBy: 'ada', log: expect.objectContaining(log) };
    expect((await send('get', `/approvals/${projectId}`).expect(200)).body).toEqual([approved]);
    expect(await audit(logId)).toEqual([['record', 'ada', null]]);
    const refers = await send('delete', `${LOGS}/${logId}`).expect(409);
    expect(refers.body).toEqual(refusal('CONFLICT', 'other records refer to this time log'));
    // A constraint of the approval undoes the log and its audit row.
    await expect(app.get(ApprovalsService).record(log, '')).rejects.toThrow('approved_by');
    expect((await send('get', `${LOGS}?projectId=${projectId}`)).body).toMatchObject({ meta: { total: 1 } });
    expect(await database.getRepository(AuditEntry).countBy({ projectId })).toBe(1);
  });

  it('returns errors of time logs in its own form on its own routes', async () => {
    const { body, type } = await send('post', '/approvals', work({ duration: 0 })).expect(400);
    expect(type).toBe('application/problem+json');
    expect(body).toMatchObject({ status: 400, detail: 'duration must be a positive number' });
  });

  it('has a copy of the hours from the events, which follows corrections', async () => {
    const id = await record();
    const copied = async (hours: string) => {
      for (let tries = 0; tries < 600; tries++) {
        const [row] = await database.query('select hours from hours where log_id = $1', [id]);
        if (row?.hours === hours) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`the copy never has ${hours} hours`);
    };
    await copied('1.5');
    await send('put', `${LOGS}/${id}`, work({ duration: 2 })).expect(200);
    await copied('2');
    await send('delete', `${LOGS}/${id}`).expect(204);
    await copied('0');
  });

  it('has a worker without HTTP', async () => {
    const worker = await NestFactory.createApplicationContext(WorkerModule, { logger: false });
    expect(await worker.get(TimesheetImport).read(projectId, [`${projectId},2,2026-01-30,`])).toBe(1);
    await worker.close();
    const { body } = await send('get', `${LOGS}?projectId=${projectId}`).expect(200);
    expect(body).toMatchObject({ data: [{ duration: 2 }], meta: { total: 1 } });
  });
});
