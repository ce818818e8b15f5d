import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Query,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  IsDateString,
  IsIn,
  IsInt,
  IsOptional,
  IsPositive,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Strategy } from 'passport-http-bearer';
import {
  Between,
  Column,
  CreateDateColumn,
  Entity,
  type FindOptionsWhere,
  Index,
  LessThanOrEqual,
  MoreThanOrEqual,
  PrimaryGeneratedColumn,
  Repository,
} from 'typeorm';

@Entity('time_logs')
@Index(['projectId', 'date'])
@Index(['date'])
class TimeLog {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'project_id' })
  projectId!: string;

  @Column('numeric', { transformer: { to: (value: number) => value, from: Number } })
  duration!: number;

  @Column('text')
  description!: string;

  @Column('date')
  date!: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}

class CreateTimeLogDto {
  @IsUUID()
  projectId!: string;

  @IsPositive()
  duration!: number;

  @IsString()
  @MaxLength(5000)
  description!: string;

  @IsDateString({ strict: true })
  date!: string;
}

class ListTimeLogsDto {
  @IsOptional()
  @IsUUID()
  projectId?: string;

  @IsOptional()
  @IsDateString()
  from?: string;

  @IsOptional()
  @IsDateString()
  to?: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  page?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1000)
  limit?: number;
}

class TotalsDto extends ListTimeLogsDto {
  @IsOptional()
  @IsIn(['project'])
  by?: string;
}

@Injectable()
class BearerStrategy extends PassportStrategy(Strategy) {
  validate(token: string): { name: string } | false {
    return token === process.env.ACCESS_TOKEN && { name: 'bench' };
  }
}

@Injectable()
class TimeLogService {
  constructor(@InjectRepository(TimeLog) private readonly timeLogs: Repository<TimeLog>) {}

  async create(dto: CreateTimeLogDto): Promise<TimeLog> {
    const timeLog = this.timeLogs.create(dto);
    await this.timeLogs.insert(timeLog);
    return timeLog;
  }

  list({ projectId, from, to }: ListTimeLogsDto, page: number, limit: number): Promise<[TimeLog[], number]> {
    const where: FindOptionsWhere<TimeLog> = {};
    if (projectId !== undefined) where.projectId = projectId;
    if (from !== undefined && to !== undefined) where.date = Between(from, to);
    else if (from !== undefined) where.date = MoreThanOrEqual(from);
    else if (to !== undefined) where.date = LessThanOrEqual(to);
    return this.timeLogs.findAndCount({
      where,
      order: { date: 'DESC', createdAt: 'DESC', id: 'DESC' },
      skip: (page - 1) * limit,
      take: limit,
    });
  }

  /** The sums of a period, those of each project, and the number of projects. */
  totals(from: string, to: string, page: number, limit: number) {
    const logs = 'from time_logs where date between $1 and $2';
    const sums = 'count(*)::int as count, coalesce(sum(duration), 0)::float8 as duration';
    return Promise.all([
      this.timeLogs.query<[{ count: number; duration: number }]>(`select ${sums} ${logs}`, [from, to]),
      this.timeLogs.query<object[]>(
        `select project_id as "projectId", ${sums} ${logs}
          group by project_id order by duration desc, project_id limit $3 offset $4`,
        [from, to, limit, (page - 1) * limit],
      ),
      this.timeLogs.query<[{ total: number }]>(`select count(distinct project_id)::int as total ${logs}`, [
        from,
        to,
      ]),
    ]);
  }
}

@Controller('time-logs')
@UseGuards(AuthGuard('bearer'))
class TimeLogController {
  constructor(private readonly timeLogs: TimeLogService) {}

  @Post()
  @HttpCode(201)
  async create(@Body() dto: CreateTimeLogDto) {
    return { success: true, data: await this.timeLogs.create(dto) };
  }

  /** Totals by project alone. */
  @Get('totals')
  async totals(@Query() { from = '', to = '', page = 1, limit = 50 }: TotalsDto) {
    const [[whole], data, [{ total }]] = await this.timeLogs.totals(from, to, page, limit);
    return { success: true, data, meta: { ...whole, total, page, limit } };
  }

  @Get()
  async list(@Query() query: ListTimeLogsDto) {
    const { page = 1, limit = 50 } = query;
    const [timeLogs, total] = await this.timeLogs.list(query, page, limit);
    const data = timeLogs.map(({ id, projectId, duration, description, createdAt }) => ({
      id,
      projectId,
      duration,
      description,
      createdAt,
    }));
    return { success: true, data, meta: { total, page, limit } };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL!,
      entities: [TimeLog],
      synchronize: false,
      // The table has gen_random_uuid() as its default, for which PostgreSQL needs no extension.
      installExtensions: false,
      poolSize: 10,
    }),
    TypeOrmModule.forFeature([TimeLog]),
    PassportModule,
  ],
  providers: [TimeLogService, BearerStrategy],
  controllers: [TimeLogController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
app.setGlobalPrefix('api/v1');
app.useGlobalPipes(
  new ValidationPipe({
    whitelist: true,
    transform: true,
    transformOptions: { enableImplicitConversion: true },
  }),
);
await app.listen(Number(process.env.PORT), '127.0.0.1');
