import { Get, Logger, type OnModuleDestroy, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { withinDeadline, stateOf } from '../../../libs/request-state/src/index.js';
import { Rule, StrictQuery } from '../../../libs/strict-request/src/index.js';
import { Scopes } from '../../../libs/auth/src/index.js';
import { DomainError, reasonOf } from '../../../libs/errors/src/index.js';
import { type ExportFormat, formatFault } from '../domain/export.repository.js';
import { TimeLogRoutes } from '../../time-log/api/time-log-routes.decorator.js';
import { READ } from '../../time-log/time-log.options.js';
import { filterIn, TimeLogFilterDto } from '../../time-log/api/list-time-logs.dto.js';
import { type ExportedLogs, ExportService } from '../application/export.service.js';

/** The query of an export, as text. Error messages follow the order of these fields. */
export class ExportTimeLogsDto extends TimeLogFilterDto {
  @Rule(formatFault)
  format: ExportFormat = 'csv';
}

const TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};
/** The maximum duration of an export: it holds up vacuum and migrations. */
const MAX_DURATION_MS = 10 * 60_000;
/** The time that running exports have at a shutdown, as long as requests have in our service. */
const DRAIN_TIMEOUT_MS = 8_000;

/** Exports over HTTP. */
@TimeLogRoutes()
export class ExportController implements OnModuleDestroy {
  private readonly logger = new Logger(ExportController.name);
  /** Ends each of the running exports for a reason. */
  private readonly running = new Set<(reason: string) => void>();

  constructor(private readonly service: ExportService) {}

  @Get('export')
  @Scopes([READ])
  async export(
    @StrictQuery(ExportTimeLogsDto) query: ExportTimeLogsDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const stop = new AbortController();
    const end = (reason: string) =>
      stop.abort(new DomainError('SERVICE_UNAVAILABLE', undefined, { cause: new Error(reason) }));
    const timer = setTimeout(() => end('it took more than 10 minutes'), MAX_DURATION_MS).unref();
    const onClose = () => end('the client has disconnected');
    response.once('close', onClose);
    if (response.destroyed) onClose();
    this.running.add(end);
    try {
      await this.send(query, request, response, stop.signal);
      response.end();
    } catch (error) {
      end('it has not begun in time');
      if (!response.headersSent && !response.destroyed) throw error;
      this.reset(request, error);
    } finally {
      clearTimeout(timer);
      this.running.delete(end);
    }
  }

  /** Ends the exports that take longer, also if the server of a host would wait for them. */
  onModuleDestroy(): void {
    const endAll = () => this.running.forEach((end) => end('the service is shutting down'));
    setTimeout(endAll, DRAIN_TIMEOUT_MS).unref();
  }

  /**
   * Sends all but the end of the response, so that the client can start the next export when it has the end. Until the
   * first bytes an error has the response of every error.
   */
  private async send(
    query: ExportTimeLogsDto,
    request: Request,
    response: Response,
    signal: AbortSignal,
  ): Promise<void> {
    const { format } = query;
    const options = { caller: stateOf(request).caller, signal };
    let exported: Promise<void> | undefined;
    const begun = new Promise<void>((begin, fail) => {
      const use = async ({ total, lastEventId, content }: ExportedLogs) => {
        const parts = content[Symbol.asyncIterator]();
        const first = request.method === 'HEAD' ? undefined : await parts.next();
        signal.throwIfAborted();
        begin();
        response.setHeader('Content-Type', TYPES[format]);
        response.setHeader('Content-Disposition', `attachment; filename="time-logs.${format}"`);
        response.setHeader('X-Total-Count', total);
        if (lastEventId !== undefined) response.setHeader('Last-Event-ID', lastEventId);
        if (first) await sendParts(response, first, parts, signal);
      };
      exported = this.service.export(filterIn(query), format, use, options);
      exported.then(begin, fail);
    });
    await withinDeadline(request, begun);
    await exported;
  }

  /** Resets the connection of a response that ends early: HTTP/1.0 takes one that is closed for its end. */
  private reset({ id, socket }: Request & { readonly id?: string }, error: unknown): void {
    const reason = reasonOf(error instanceof DomainError ? error.cause : error);
    this.logger.warn(`an export ended early: ${reason}${id === undefined ? '' : ` (${id})`}`);
    try {
      socket.resetAndDestroy();
    } catch {
      // TLS and local sockets cannot be reset.
      socket.destroy();
    }
  }
}

/** Writes parts as fast as the client reads. Throws what the parts throw, and the reason of the signal. */
async function sendParts(
  response: Response,
  first: IteratorResult<Uint8Array>,
  parts: AsyncIterator<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  let resume = (): void => undefined;
  // Only once: a middleware that compresses adds it to a stream of its own, from which `off` would not remove it.
  response.on('drain', () => resume());
  signal.addEventListener('abort', () => resume());
  for (let part = first; !part.done; part = await parts.next()) {
    if (!response.write(part.value) && !signal.aborted) await new Promise<void>((next) => (resume = next));
    signal.throwIfAborted();
  }
}
