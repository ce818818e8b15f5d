import { Controller, Get, Inject, Logger, type OnModuleDestroy, Optional, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Scopes } from '../../../libs/auth/src/index.js';
import { DomainError, reasonOf } from '../../../libs/errors/src/index.js';
import { type Served, STATE, StrictQuery, withinDeadline } from '../../../libs/strict-request/src/index.js';
import { PREPARE_ROUTES, type PrepareRoutes, TimeLogRoutes } from '../../time-log/api/time-log-routes.js';
import { callOptionsOf } from '../../time-log/application/call-options.js';
import { READ } from '../../time-log/time-log.scopes.js';
import { filterOfChecked } from '../../time-log/api/list-time-logs.dto.js';
import { ExportService } from '../application/export.service.js';
import type { ExportFormat } from '../domain/export-format.js';
import type { ExportedLogs } from '../domain/export.repository.js';
import { ExportTimeLogsDto } from './export-time-logs.dto.js';
import { sendContent } from './send-content.js';

const TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};
/** The maximum duration of an export: it holds up vacuum and migrations. */
const MAX_DURATION_MS = 5 * 60_000;
/** The time that running exports have at a shutdown, as long as requests have in our service. */
const DRAIN_TIMEOUT_MS = 8_000;

/** Exports over HTTP. The route exists only if the store has exports. */
@Controller('time-logs')
export class ExportController extends TimeLogRoutes implements OnModuleDestroy {
  private readonly logger = new Logger(ExportController.name);
  private readonly shutdown = new AbortController();
  private isShuttingDown = false;

  constructor(
    private readonly service: ExportService,
    @Optional() @Inject(PREPARE_ROUTES) prepare?: PrepareRoutes,
  ) {
    super(prepare);
  }

  @Get('export')
  @Scopes([READ])
  async export(
    @StrictQuery(ExportTimeLogsDto) query: ExportTimeLogsDto,
    @Req() request: Request & Served,
    @Res() response: Response,
  ): Promise<void> {
    const { format } = query;
    const stop = new AbortController();
    const end = (reason: string) =>
      stop.abort(new DomainError('SERVICE_UNAVAILABLE', undefined, { cause: new Error(reason) }));
    const onShutdown = () => end('the service is shutting down');
    const timer = setTimeout(() => end('it took more than 5 minutes'), MAX_DURATION_MS).unref();
    const onClose = () =>
      end(`the client has disconnected${this.isShuttingDown ? ', or the service shuts down' : ''}`);
    response.once('close', onClose);
    this.shutdown.signal.addEventListener('abort', onShutdown);
    const options = { ...callOptionsOf(request[STATE].caller), signal: stop.signal };
    let exported: Promise<void> | undefined;
    if (response.destroyed) onClose();
    // Until the first bytes an error has the response of every error.
    const begun = new Promise<void>((begin, fail) => {
      const use = async ({ total, lastEventId, content }: ExportedLogs) => {
        const parts = content[Symbol.asyncIterator]();
        const first = request.method === 'HEAD' ? undefined : await parts.next();
        stop.signal.throwIfAborted();
        begin();
        response.setHeader('Content-Type', TYPES[format]);
        response.setHeader('Content-Disposition', `attachment; filename="time-logs.${format}"`);
        response.setHeader('X-Total-Count', total);
        if (lastEventId !== undefined) response.setHeader('Last-Event-ID', lastEventId);
        if (first) await sendContent(response, first, parts, stop.signal);
      };
      exported = this.service.export(filterOfChecked(query, request[STATE]), format, use, options);
      exported.then(begin, fail);
    });
    try {
      await withinDeadline(request, begun);
      // The response ends after the export, so that the client can start the next one.
      await exported;
      response.end();
    } catch (error) {
      end('it has not begun in time');
      if (!response.headersSent && !response.destroyed) throw error;
      this.reset(request, error);
    } finally {
      clearTimeout(timer);
      this.shutdown.signal.removeEventListener('abort', onShutdown);
    }
  }

  /** Ends the exports that take longer, also if the server of a host would wait for them. */
  onModuleDestroy(): void {
    this.isShuttingDown = true;
    setTimeout(() => this.shutdown.abort(), DRAIN_TIMEOUT_MS).unref();
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
