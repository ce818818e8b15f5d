import { type Type, Controller, UseFilters, UseGuards, UseInterceptors } from '@nestjs/common';
import { Allow } from 'class-validator';
import { MessagePattern } from '@nestjs/microservices';
import { faultOf } from '../../../libs/errors/src/index.js';
import { type RequestState } from '../../../libs/request-state/src/index.js';
import {
  isJsonObject,
  Omittable,
  Rule,
  StrictMessage,
  MessageState,
} from '../../../libs/strict-request/src/index.js';
import { Scopes } from '../../../libs/auth/src/index.js';
import { TotalTimeLogsDto, totalsResponse, TotalsService } from '../../totals/index.js';
import {
  idempotencyKeyFault,
  ListTimeLogsDto,
  criteriaOf,
  idempotencyKeyOf,
  itemsResponse,
  LargeLists,
  logResponse,
  READ,
  TimeLogDto,
  TimeLogService,
  valuesOf,
  WRITE,
} from '../../time-log/index.js';
import { MessageErrorFilter, MessageInterceptor, MessageGuard } from '../message-enhancers.js';

class AuthorizedMessage {
  /** The access token. The guard has already checked it. */
  @Allow()
  accessToken?: string;
}

/** The data of `time-log.record.v1`. */
export class RecordTimeLogMessage extends AuthorizedMessage {
  @Omittable()
  @Rule(idempotencyKeyFault)
  idempotencyKey?: string;

  @Rule((value) => objectFault('timeLog', value))
  timeLog!: TimeLogDto;
}

/** The data of `time-log.list.v1`. */
export class ListTimeLogsMessage extends AuthorizedMessage {
  @Omittable()
  @Rule((value) => objectFault('query', value))
  query!: ListTimeLogsDto;
}

/** The data of `time-log.totals.v1`. */
export class TotalTimeLogsMessage extends ListTimeLogsMessage {
  declare query: TotalTimeLogsDto;
}

/** Injects the validated data of a message with a query. */
const StrictQueryMessage = (message: Type<object>, dto: Type<object>): ParameterDecorator =>
  StrictMessage({ message, part: 'query', dto, isQuery: true });

function objectFault(name: string, value: unknown) {
  return isJsonObject(value)
    ? undefined
    : faultOf(name, value, 'type', 'must be an object', { type: 'object' });
}

/** The queue in RabbitMQ and the queue group in NATS: one instance receives each message. */
export const MESSAGE_QUEUE = 'time-logs';
/** Options for hosts that connect NATS themselves. */
const QUEUE_GROUP = { queue: MESSAGE_QUEUE };

/** Handles messages with the use cases, rules and errors of HTTP. */
@Controller()
@UseGuards(MessageGuard)
@UseInterceptors(MessageInterceptor)
@UseFilters(MessageErrorFilter)
export class TimeLogMessagesController {
  constructor(
    private readonly timeLogs: TimeLogService,
    private readonly largeLists: LargeLists,
    private readonly totalsService: TotalsService,
  ) {}

  @MessagePattern('time-log.list.v1', QUEUE_GROUP)
  @Scopes([READ])
  async list(
    @StrictQueryMessage(ListTimeLogsMessage, ListTimeLogsDto) { query }: ListTimeLogsMessage,
    @MessageState() stateOf: () => RequestState,
  ): Promise<object> {
    const { caller } = stateOf();
    const { filter, page } = criteriaOf(query);
    const call = { caller };
    const list = async () => itemsResponse(await this.timeLogs.items(filter, page, call), page);
    return this.largeLists.isLarge(page.limit) ? this.largeLists.form(caller?.id, list) : list();
  }

  @MessagePattern('time-log.totals.v1', QUEUE_GROUP)
  @Scopes([READ])
  async totals(
    @StrictQueryMessage(TotalTimeLogsMessage, TotalTimeLogsDto) { query }: TotalTimeLogsMessage,
    @MessageState() stateOf: () => RequestState,
  ): Promise<object> {
    const { caller } = stateOf();
    const { filter, page } = criteriaOf(query);
    const totals = await this.totalsService.totals(filter, query.by, page, { caller });
    return totalsResponse(totals, page);
  }

  @MessagePattern('time-log.record.v1', QUEUE_GROUP)
  @Scopes([WRITE])
  async record(
    @StrictMessage({ message: RecordTimeLogMessage, part: 'timeLog', dto: TimeLogDto })
    { idempotencyKey, timeLog }: RecordTimeLogMessage,
    @MessageState() stateOf: () => RequestState,
  ): Promise<object> {
    const state = stateOf();
    const call = { caller: state.caller };
    const values = valuesOf(timeLog);
    if (idempotencyKey === undefined) {
      const log = await this.timeLogs.record(values, call);
      state.change = { kind: 'record', id: log.id };
      return logResponse(log);
    }
    const key = idempotencyKeyOf(state.caller?.id, idempotencyKey);
    const { log, isReplay } = await this.timeLogs.recordOnce(values, key, call);
    if (isReplay) return { ...logResponse(log), replayed: true };
    state.change = { kind: 'record', id: log.id };
    return logResponse(log);
  }
}
