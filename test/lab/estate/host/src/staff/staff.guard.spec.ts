import { type ExecutionContext, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { timeLogMigrations, TimeLogModule } from 'time-logs/time-log';
import { StaffGuard, toCaller } from './staff.guard.js';

const LOG = { projectId: '11111111-1111-1111-1111-111111111111', duration: 1.5, date: '2026-01-31' };

const database = TypeOrmModule.forRoot({
  type: 'postgres',
  url: process.env.DATABASE_URL,
  autoLoadEntities: true,
  migrations: [...timeLogMigrations],
  migrationsRun: true,
});

/** The routes of time logs behind our guard. */
describe('StaffGuard', () => {
  let app: INestApplication<App>;

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [database, TimeLogModule.forRoot({ guard: StaffGuard, caller: toCaller })],
    }).compile();
    app = await module.createNestApplication().init();
  });
  afterAll(() => app.close());

  const send = (key = '') => request(app.getHttpServer()).post('/time-logs').set('x-api-key', key).send(LOG);

  it('refuses a request without a key, and a change by staff who may only read', async () => {
    await send().expect(401);
    await send('key-of-ben').expect(403);
    await send('key-of-ada').expect(201);
  });
});

it('is replaced in a test', async () => {
  const letAdaPass = {
    canActivate: (context: ExecutionContext) =>
      Object.assign(context.switchToHttp().getRequest<object>(), { user: { name: 'ada', mayWrite: true } }),
  };
  const timeLogs = TimeLogModule.forRootAsync({
    guard: StaffGuard,
    useFactory: () => ({ caller: toCaller }),
  });
  const module = await Test.createTestingModule({ imports: [database, timeLogs] })
    .overrideProvider(StaffGuard)
    .useValue(letAdaPass)
    .compile();
  const app: INestApplication<App> = await module.createNestApplication().init();
  await request(app.getHttpServer()).post('/time-logs').send(LOG).expect(201);
  await app.close();
});
