import {
  type ArgumentsHost,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Module,
  Param,
  type PipeTransform,
  Post,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER, NestFactory, RouterModule } from '@nestjs/core';
import { MessagePattern, Payload, Transport } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { BearerAuthModule, AccessGuard, callerOf, type Caller, Scopes, TokenVerifier } from 'time-logs/auth';
import { DomainError, ErrorEnvelopeFilter } from 'time-logs/errors';
import {
  PageRequest,
  Period,
  TimeLog,
  timeLogMigrations,
  TimeLogModule,
  TimeLogService,
} from 'time-logs/time-log';
import {
  Column,
  DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
} from 'typeorm';

/*
 * An app of somebody else, on any version of Nest and TypeORM that the package supports, as an ES or a CommonJS module.
 * It knows time logs as every host does: by the exports of the package.
 */

/** The schema of the host's tables. */
export const SCHEMA = 'Host of logs';
const PREFIX = 'our_';

/** The own parts of a host app: an entity that relates to time logs, its migration, tokens, errors and routes. */
@Entity('approvals')
class Approval {
  @PrimaryColumn({ type: 'uuid', name: 'log_id' })
  readonly logId!: string;

  @ManyToOne(() => TimeLog)
  @JoinColumn({ name: 'log_id' })
  readonly log?: TimeLog;

  @Column({ type: 'text', name: 'approved_by' })
  readonly approvedBy!: string;
}

class CreateApprovals1800000000000 implements MigrationInterface {
  readonly name = 'CreateApprovals1800000000000';

  async up(runner: QueryRunner): Promise<void> {
    const [approvals, logs] = ['approvals', 'time_logs'].map((table) => `"${SCHEMA}".${PREFIX}${table}`);
    await runner.query(
      `create table ${approvals} (log_id uuid primary key references ${logs}, approved_by text not null)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table "${SCHEMA}".${PREFIX}approvals`);
  }
}

const SCOPES: Readonly<Record<string, readonly string[]>> = {
  reader: ['time-logs:read'],
  worker: ['time-logs:read', 'time-logs:write'],
  clerk: ['time-logs:read', 'time-logs:correct'],
  approver: ['approvals:read'],
};

class HostTokens extends TokenVerifier {
  override async verify(token: string): Promise<Caller | undefined> {
    if (token === 'unverifiable') throw new DomainError('SERVICE_UNAVAILABLE');
    const scopes = SCOPES[token];
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

  @Get()
  refuse(): never {
    throw new ConflictException('a conflict of the host');
  }

  /** A route of the host behind our guard and filter. */
  @Get('mine')
  @UseGuards(AccessGuard)
  @UseFilters(ErrorEnvelopeFilter)
  @Scopes(['approvals:read'])
  whose(@Req() request: Request): object {
    return { of: (request as Request & { user: Caller }).user.id };
  }

  /** Records through the exported service, in the host's own terms, together with a row of its own. */
  @Post(':projectId')
  async recordApproved(@Param('projectId') projectId: string): Promise<Approval> {
    return this.dataSource.transaction(async (manager) => {
      const values = { projectId, duration: 1, description: 'approved', date: '2026-01-31' };
      const log = await this.timeLogs.record(values, { manager });
      return manager.getRepository(Approval).save({ logId: log.id, approvedBy: 'Ada' });
    });
  }

  /** Thinks better of it. */
  @Post(':projectId/revoked')
  async recordRevoked(@Param('projectId') projectId: string): Promise<never> {
    return this.dataSource.transaction(async (manager) => {
      await this.timeLogs.record({ projectId, duration: 1, date: '2026-01-31' }, { manager });
      throw new ConflictException('revoked');
    });
  }

  /** Reads through the exported service. */
  @Get('total/:projectId')
  async total(@Param('projectId') projectId: string): Promise<object> {
    const filter = { projectIds: [projectId], period: Period.of('2026-01-01', '2026-01-31') };
    return { total: (await this.timeLogs.list(filter, PageRequest.of(1, 1))).total };
  }

  /** Reads and filters through the relation. */
  @Get('of/:projectId')
  async approvalsOf(@Param('projectId') projectId: string): Promise<Approval[]> {
    const approvals = this.dataSource.getRepository(Approval);
    return approvals.find({ where: { log: { projectId } }, relations: { log: true } });
  }
}

@Controller()
class WhoseMessages {
  /** A message handler of the host behind our guard and filter. */
  @MessagePattern('whose')
  @UseGuards(AccessGuard)
  @UseFilters(ErrorEnvelopeFilter)
  @Scopes(['approvals:read'])
  whose(@Payload() data: object): object {
    return { of: callerOf(data)?.id };
  }

  /** One behind our filter alone. */
  @MessagePattern('conflict')
  @UseFilters(ErrorEnvelopeFilter)
  refuse(): never {
    throw new ConflictException('a conflict of the host');
  }

  /** One behind our guard alone. */
  @MessagePattern('guarded')
  @UseGuards(AccessGuard)
  guarded(): object {
    return {};
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

function hostModule(databaseUrl: string) {
  const timeLogs = TimeLogModule.forRoot({ limits: { deadline: 5_000 } });

  @Module({ imports: [timeLogs], controllers: [ApprovalController, WhoseMessages] })
  class ApprovalModule {}

  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: databaseUrl,
        schema: SCHEMA,
        entityPrefix: PREFIX,
        autoLoadEntities: true,
        entities: [Approval],
        migrations: [...timeLogMigrations, CreateApprovals1800000000000],
        migrationsRun: true,
        installExtensions: false,
        poolErrorHandler: () => undefined,
      }),
      BearerAuthModule.forRoot({ verifier: new HostTokens(), realm: 'host' }),
      ApprovalModule,
      RouterModule.register([{ path: 'work', module: TimeLogModule }]),
    ],
    providers: [{ provide: APP_FILTER, useClass: HostFilter }],
  })
  class HostModule {}
  return HostModule;
}

export interface HostOptions {
  readonly databaseUrl: string;
  /** Its port for messages over TCP. */
  readonly messagesPort: number;
}

/** Starts the host on a free port of loopback. */
export async function startHost(options: HostOptions): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(hostModule(options.databaseUrl), {
    logger: false,
    abortOnError: false,
  });
  app.setGlobalPrefix('internal');
  app.useGlobalPipes(new TrimmingPipe());
  const description = new DocumentBuilder()
    .setTitle('Host')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth()
    .build();
  SwaggerModule.setup('docs', app, () => {
    const document = SwaggerModule.createDocument(app, description);
    const { paths, schemas } = app.get(TimeLogModule).openApiPaths('/internal/work');
    Object.assign(document.paths, paths);
    document.components!.schemas = { ...document.components!.schemas, ...schemas };
    return document;
  });
  app.connectMicroservice({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port: options.messagesPort },
  });
  await app.listen(0, '127.0.0.1');
  await app.startAllMicroservices();
  return app;
}
