import { Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Scopes } from '../../../libs/auth/src/index.js';
import { Limit } from '../../../libs/batching/src/index.js';
import { withinDeadline, stateOf } from '../../../libs/request-state/src/index.js';
import {
  MergePatch,
  StrictBatch,
  StrictBody,
  StrictHeaders,
  StrictPath,
  StrictQuery,
} from '../../../libs/strict-request/src/index.js';
import { CORRECT, READ, WRITE } from '../time-log.options.js';
import { TimeLogService } from '../application/time-log.service.js';
import { entityTagsIn } from '../domain/fingerprints.js';
import { idempotencyKeyOf } from '../domain/idempotency-key.js';
import { idFault } from '../domain/time-log.rules.js';
import type { ChangeOptions } from '../application/change-options.js';
import { criteriaOf, ListTimeLogsDto, pageLinks } from './list-time-logs.dto.js';
import { patchedValues } from './patch-time-log.js';
import {
  BATCH_SHAPE,
  correctionRulesOf,
  IdempotencyKeyHeader,
  type TimeLogBatchDto,
  TimeLogDto,
  valuesOf,
} from './time-log.dto.js';
import { LargeLists, listJson, locationOf, logsJson, sendJson, sendList, sendLog } from './responses.js';
import { TimeLogRoutes } from './time-log-routes.decorator.js';

/** Lists time logs. */
@TimeLogRoutes()
export class ListTimeLogsController {
  constructor(
    private readonly timeLogs: TimeLogService,
    private readonly largeLists: LargeLists,
  ) {}

  @Get()
  @Scopes([READ])
  async list(
    @StrictQuery(ListTimeLogsDto) query: ListTimeLogsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { filter, page } = criteriaOf(query);
    const { caller } = stateOf(request);
    await sendList(this.largeLists, request, response, {
      limit: page.limit,
      make: async () => {
        const items = await this.timeLogs.items(filter, page, { caller });
        return { list: listJson(items, page), link: pageLinks(filter, page, items.total) };
      },
    });
  }
}

/** The header of an answer that the key has kept. */
const REPLAYED = { 'Idempotency-Replayed': 'true' };

/** The number of batches that are parsed at a time: one while another is stored. */
const CONCURRENT_BATCHES = 2;

/** Limits the batches of requests that are parsed and stored at a time. */
export class BatchLimit extends Limit {
  /** `deadline` is that of a request in milliseconds. */
  constructor(deadline: number) {
    super(() => CONCURRENT_BATCHES, deadline);
  }
}

/** Records a time log, or several at once. */
@TimeLogRoutes()
export class RecordTimeLogsController {
  constructor(
    private readonly timeLogs: TimeLogService,
    private readonly batches: BatchLimit,
  ) {}

  @Post()
  @Scopes([WRITE])
  async record(
    @StrictHeaders(IdempotencyKeyHeader) headers: IdempotencyKeyHeader,
    @StrictBody(TimeLogDto) body: TimeLogDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const state = stateOf(request);
    const call = { caller: state.caller };
    const values = valuesOf(body);
    const keyText = headers['Idempotency-Key'];
    if (keyText === undefined) {
      const log = await withinDeadline(request, this.timeLogs.record(values, call));
      state.change = { kind: 'record', id: log.id };
      sendLog(response, 201, log, { Location: locationOf(request, log.id) });
      return;
    }
    const key = idempotencyKeyOf(call.caller?.id, keyText);
    const { log, isReplay } = await withinDeadline(request, this.timeLogs.recordOnce(values, key, call));
    if (!isReplay) state.change = { kind: 'record', id: log.id };
    sendLog(response, 201, log, { Location: locationOf(request, log.id), ...(isReplay && REPLAYED) });
  }

  @Post('batch')
  @Scopes([WRITE])
  async recordAll(
    @StrictHeaders(IdempotencyKeyHeader) headers: IdempotencyKeyHeader,
    @StrictBatch(BATCH_SHAPE) read: () => Promise<TimeLogBatchDto>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const state = stateOf(request);
    const call = { caller: state.caller };
    const keyText = headers['Idempotency-Key'];
    const recorded = this.batches.run(call.caller?.id, async () => {
      const values = (await read()).timeLogs.map(valuesOf);
      if (keyText === undefined)
        return { logs: await this.timeLogs.recordAll(values, call), isReplay: false };
      return this.timeLogs.recordAllOnce(values, idempotencyKeyOf(call.caller?.id, keyText), call);
    });
    const { logs, isReplay } = await withinDeadline(request, recorded);
    if (!isReplay) state.change = { kind: 'record', id: logs[0]!.id, count: logs.length };
    sendJson(response, 201, logsJson(logs), isReplay ? REPLAYED : {});
  }
}

/** Corrects a time log: all of its values, or some. */
@TimeLogRoutes()
export class CorrectTimeLogController {
  constructor(private readonly timeLogs: TimeLogService) {}

  @Put(':id')
  @Scopes([CORRECT])
  async correct(
    @StrictPath('id', idFault) id: string,
    @StrictBody(TimeLogDto, ({ id }) => correctionRulesOf(String(id))) body: TimeLogDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const corrected = this.timeLogs.correct(id, valuesOf(body), changeOptionsOf(request, 'correct', id));
    sendLog(response, 200, await withinDeadline(request, corrected));
  }

  @Patch(':id')
  @Scopes([CORRECT])
  async patch(
    @StrictPath('id', idFault) id: string,
    @MergePatch() patch: () => object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const corrected = this.timeLogs.patch(
      id,
      (log) => patchedValues(log, patch(), request),
      changeOptionsOf(request, 'correct', id),
    );
    sendLog(response, 200, await withinDeadline(request, corrected));
  }
}

/** Deletes a time log. */
@TimeLogRoutes()
export class DeleteTimeLogController {
  constructor(private readonly timeLogs: TimeLogService) {}

  @Delete(':id')
  @Scopes([CORRECT])
  async delete(
    @StrictPath('id', idFault) id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await withinDeadline(request, this.timeLogs.delete(id, changeOptionsOf(request, 'delete', id)));
    response.writeHead(204).end();
  }
}

/** Returns a time log. */
@TimeLogRoutes()
export class GetTimeLogController {
  constructor(private readonly timeLogs: TimeLogService) {}

  @Get(':id')
  @Scopes([READ])
  async get(
    @StrictPath('id', idFault) id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const found = this.timeLogs.get(id, { caller: stateOf(request).caller });
    sendLog(response, 200, await withinDeadline(request, found));
  }
}

/** Returns the options for a change of a log. The access log names it even after a `503`: it may have been made. */
function changeOptionsOf(request: Request, kind: 'correct' | 'delete', id: string): ChangeOptions {
  const state = stateOf(request);
  state.change = { kind, id: id.toLowerCase() };
  // Node joins the lines of each of these headers to one list.
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  return {
    caller: state.caller,
    ifMatch: entityTagsIn(ifMatch),
    ifNoneMatch: entityTagsIn(ifNoneMatch),
  };
}
