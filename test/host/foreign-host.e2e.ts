import { randomUUID } from 'node:crypto';
import {
  type ArgumentsHost,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  HttpStatus,
  Injectable,
  Module,
  Param,
  type PipeTransform,
  Post,
} from '@nestjs/common';
import { APP_FILTER, NestFactory, RouterModule } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { DataSource, EntitySchema, type MigrationInterface, type QueryRunner } from 'typeorm';
import { AuthModule, type Principal, TokenVerifier } from '../../libs/auth/src/index.js';
import {
  TimeLog,
  timeLogEntities,
  timeLogMigrations,
  TimeLogModule,
  type TimeLogPage,
  TimeLogRepository,
  TimeLogService,
} from '../../src/time-log/index.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SCHEMA = 'Host of logs';
const PROJECT = '11111111-1111-1111-1111-111111111111';

/** What a host app has of its own: an entity that refers to time logs, its migration, tokens, errors and routes. */
interface Approval {
  readonly logId: string;
  readonly approvedBy: string;
}

const ApprovalSchema = new EntitySchema<Approval>({
  name: 'Approval',
  tableName: 'approvals',
  columns: {
    logId: { type: 'uuid', name: 'log_id', primary: true },
    approvedBy: { type: 'text', name: 'approved_by' },
  },
});

class CreateApprovals1800000000000 implements MigrationInterface {
  readonly name = 'CreateApprovals1800000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `create table "${SCHEMA}".approvals (log_id uuid primary key references "${SCHEMA}".time_logs, approved_by text not null)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table "${SCHEMA}".approvals`);
  }
}

class HostTokens extends TokenVerifier {
  override async verify(token: string): Promise<Principal | undefined> {
    const scopes = { reader: ['time-logs:read'], worker: ['time-logs:read', 'time-logs:write'] }[token];
    return scopes && { id: token, scopes };
  }
}

@Catch(HttpException)
class HostFilter implements ExceptionFilter {
  catch(error: HttpException, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(error.getStatus()).json({ host: error.message });
  }
}

@Controller('approvals')
class ApprovalController {
  constructor(
    private readonly timeLogs: TimeLogService,
    private readonly dataSource: DataSource,
  ) {}

  /** Records through the exported service, in the host's own terms. */
  @Post(':projectId')
  async recordApproved(@Param('projectId') projectId: string): Promise<Approval> {
    const log = await this.timeLogs.record({
      projectId,
      duration: 1,
      description: 'approved',
      date: '2026-01-31',
    });
    return this.dataSource.getRepository<Approval>('Approval').save({ logId: log.id, approvedBy: 'Ada' });
  }

  @Get()
  refuse(): never {
    throw new ConflictException('a conflict of the host');
  }
}

/** As many hosts have one: rebuilds whatever it is given. */
class TrimmingPipe implements PipeTransform {
  transform(value: unknown): unknown {
    if (typeof value === 'string') return value.trim();
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.transform(member)]));
  }
}

function requirePayment(context: ExecutionContext): boolean {
  if (context.switchToHttp().getRequest<Request>().headers['x-unpaid'] === undefined) return true;
  throw new HttpException('payment required', HttpStatus.PAYMENT_REQUIRED);
}

@Injectable()
class MemoryTimeLogRepository extends TimeLogRepository {
  readonly logs: TimeLog[] = [];

  override async add(log: TimeLog): Promise<void> {
    this.logs.push(log);
  }

  override async addOnce(log: TimeLog): Promise<string> {
    this.logs.push(log);
    return log.id;
  }

  override async find(): Promise<TimeLogPage> {
    return { logs: this.logs, total: this.logs.length };
  }
}

function hostModule(
  url: string,
  timeLogs: typeof TimeLogModule | ReturnType<typeof TimeLogModule.withAdapters>,
) {
  @Module({ imports: [timeLogs], controllers: [ApprovalController] })
  class ApprovalModule {}

  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url,
        schema: SCHEMA,
        entities: [...timeLogEntities, ApprovalSchema],
        migrations: [...timeLogMigrations, CreateApprovals1800000000000],
        migrationsRun: true,
        installExtensions: false,
        poolErrorHandler: () => undefined,
      }),
      AuthModule.forRoot({ verifier: new HostTokens(), realm: 'host' }),
      ApprovalModule,
      RouterModule.register([{ path: 'work', module: TimeLogModule }]),
    ],
    providers: [{ provide: APP_FILTER, useClass: HostFilter }],
  })
  class HostModule {}
  return HostModule;
}

describe('a foreign host', () => {
  let database: TestDatabase;
  let app: NestExpressApplication;
  let url: string;

  const send = async (
    path: string,
    init: RequestInit & { token?: string } = {},
  ): Promise<[number, unknown]> => {
    const headers = {
      'content-type': 'application/json',
      ...(init.token && { authorization: `Bearer ${init.token}` }),
    };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    return [response.status, await response.json()];
  };
  const log = (values: object = {}) =>
    JSON.stringify({
      projectId: PROJECT,
      duration: 0.1,
      description: 'hosted',
      date: '2026-01-30',
      ...values,
    });

  const start = async (timeLogs: Parameters<typeof hostModule>[1]) => {
    app = await NestFactory.create<NestExpressApplication>(hostModule(database.url, timeLogs), {
      logger: false,
      abortOnError: false,
    });
    app.setGlobalPrefix('internal');
    app.useGlobalPipes(new TrimmingPipe());
    app.useGlobalGuards({ canActivate: (context) => requirePayment(context) });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/internal`;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    const admin = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    await admin.query(`create schema "${SCHEMA}"`);
    await admin.destroy();
    await start(TimeLogModule);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it('has the tables in its own schema, made by its own migration run', async () => {
    const rows = await app
      .get(DataSource)
      .query<object[]>(
        `select table_name from information_schema.tables where table_schema = $1 order by 1`,
        [SCHEMA],
      );
    const tables = ['approvals', 'migrations', 'time_log_counts', 'time_log_keys', 'time_logs'];
    expect(rows).toEqual(tables.map((table_name) => ({ table_name })));
  });

  it('records and lists under its own prefix, with its own tokens', async () => {
    const [status, created] = await send('/work/time-logs', { method: 'POST', token: 'worker', body: log() });
    const { date, ...item } = (created as { data: Record<string, unknown> }).data;
    expect([status, date]).toEqual([201, '2026-01-30']);
    expect(await send(`/work/time-logs?projectId=${PROJECT}`, { token: 'reader' })).toEqual([
      200,
      { success: true, data: [item], meta: { total: 1, page: 1, limit: 50 } },
    ]);
  });

  it('gives the error envelope on the routes of time logs alone', async () => {
    const unauthorized = {
      success: false,
      error: 'UNAUTHORIZED',
      message: 'a valid bearer token is required',
    };
    expect(await send('/work/time-logs')).toEqual([401, unauthorized]);
    expect(await send('/work/time-logs', { token: 'stranger' })).toEqual([401, unauthorized]);
    expect(await send('/work/time-logs', { method: 'POST', token: 'reader', body: log() })).toEqual([
      403,
      { success: false, error: 'FORBIDDEN', message: 'the token lacks the scope time-logs:write' },
    ]);
    expect(
      await send('/work/time-logs', { method: 'POST', token: 'worker', body: log({ duration: 0, x: 1 }) }),
    ).toEqual([
      400,
      {
        success: false,
        error: 'VALIDATION_ERROR',
        message: 'duration must be a positive number; unknown field: x',
      },
    ]);
    expect(await send('/approvals')).toEqual([409, { host: 'a conflict of the host' }]);
    expect(await send('/nowhere')).toEqual([404, { host: 'Cannot GET /internal/nowhere' }]);
  });

  it('keeps the status that a guard of the host chose', async () => {
    const response = await fetch(`${url}/work/time-logs`, { headers: { 'x-unpaid': '1' } });
    expect([response.status, await response.json()]).toEqual([
      402,
      { success: false, error: 'VALIDATION_ERROR', message: 'malformed request' },
    ]);
  });

  it('extends time logs through the exported service', async () => {
    const projectId = randomUUID();
    const [status, approval] = await send(`/approvals/${projectId}`, { method: 'POST' });
    const [, listed] = await send(`/work/time-logs?projectId=${projectId}`, { token: 'reader' });
    const { data } = listed as { data: { id: string; description: string }[] };
    expect(data.map(({ description }) => description)).toEqual(['approved']);
    expect([status, approval]).toEqual([201, { logId: data[0]?.id, approvedBy: 'Ada' }]);
  });

  it('reads the table through the entity', async () => {
    const found = await app.get(DataSource).getRepository(TimeLog).findOneByOrFail({ description: 'hosted' });
    expect(found).toBeInstanceOf(TimeLog);
    expect(Object.assign({}, found)).toEqual({
      id: found.id,
      projectId: PROJECT,
      duration: 0.1,
      description: 'hosted',
      date: '2026-01-30',
    });
  });

  it('puts an adapter of its own in the place of ours', async () => {
    await app.close();
    await start(
      TimeLogModule.withAdapters({ provide: TimeLogRepository, useClass: MemoryTimeLogRepository }),
    );
    await send('/work/time-logs', {
      method: 'POST',
      token: 'worker',
      body: log({ description: 'in memory' }),
    });
    const [, listed] = await send('/work/time-logs', { token: 'reader' });
    expect(
      (listed as { data: { description: string }[] }).data.map(({ description }) => description),
    ).toEqual(['in memory']);
  });
});
