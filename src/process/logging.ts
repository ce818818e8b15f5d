import type { LoggerService } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type DestinationStream, type Logger, pino } from 'pino';
import { type RequestChange, stateOf } from '../../libs/strict-request/src/index.js';
import type { Tracing } from './tracing.js';

/** A message that was answered. */
export interface LoggedMessage {
  readonly id: string;
  readonly pattern: string;
  /** The code, HTTP status and reason of an error that it was answered with. */
  readonly error?: string | undefined;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  /** The id of its caller, if it has passed the guard. */
  readonly caller: string | undefined;
  readonly change?: RequestChange | undefined;
  readonly milliseconds: number;
}

/** Contexts in which Nest reports what ended a start, with a stack or in the system's words. */
const ENDS_OF_A_START = new Set(['ExceptionHandler', 'NestApplication']);

/** Contexts in which Nest reports, at every start, the parts that it connects. */
const WIRING = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'NestMicroservice',
]);

/**
 * The lines that PostgreSQL writes whenever it starts, stops or makes a checkpoint. It may stop before it has read that
 * a connection is given up.
 */
const ROUTINE =
  /^FATAL: +terminating connection due to administrator command|^LOG: +(starting|listening|database system (was|is) (shut down|ready)|received .* shutdown|aborting any|background worker "logical replication|shutting down|checkpoint)/;

/** Nest's logger over pino. Nest's reports about its own wiring go to `debug`. */
export class ServiceLogger implements LoggerService {
  private constructor(private readonly pino: Logger) {}

  /** Writes lines of JSON, or lines for a person at a terminal, each with the ids of the trace that it belongs to. */
  static async open(
    level: string,
    asJson: boolean,
    tracing?: Tracing,
    to?: DestinationStream,
  ): Promise<ServiceLogger> {
    const options = {
      level,
      ...(tracing && { mixin: () => tracing.ids() ?? {} }),
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label: string) => ({ level: label }) },
    };
    return new ServiceLogger(asJson ? pino(options, to) : pino(options, await prettyLines()));
  }

  /**
   * Writes one line for each request that was refused or failed, or that corrects or deletes a log; for any other only
   * at `debug`. It holds the request id, the path of the route, the fault, the caller and the id of the log that it
   * changes, and nothing else that was sent.
   */
  logRequest(request: Request & { id: string }, response: Response, milliseconds: number): void {
    const { caller, change } = stateOf(request);
    const level = levelFor(response.statusCode, change);
    if (!this.pino.isLevelEnabled(level)) return;
    const { id: requestId, method } = request;
    const line = {
      requestId,
      method,
      path: pathOf(request),
      status: response.statusCode,
      // Set by the error filter.
      error: response.locals.error as string | undefined,
      reason: response.locals.reason as string | undefined,
      // Names the caller who needs help. It is not the token.
      caller: caller?.id,
      ...changed(change),
      milliseconds: Math.round(milliseconds),
      ...(!response.writableFinished && { aborted: true }),
    };
    this.pino[level](line, 'request');
  }

  /** Writes one line for a message, as logRequest does for a request. */
  logMessage({
    id: requestId,
    pattern,
    error,
    status = 200,
    reason,
    caller,
    change,
    milliseconds,
  }: LoggedMessage): void {
    const level = levelFor(status, change);
    if (!this.pino.isLevelEnabled(level)) return;
    const line = {
      requestId,
      pattern,
      error,
      reason,
      caller,
      ...changed(change),
      milliseconds: Math.round(milliseconds),
    };
    this.pino[level](line, 'message');
  }

  /** Writes a line of the embedded PostgreSQL; routine lines go to `debug`. */
  logPostgres(line: string): void {
    this.pino[ROUTINE.test(line) ? 'debug' : 'info']({ context: 'PostgreSQL' }, line);
  }

  /** Logs an error. What ended a start goes to `debug`: main.ts prints it, in one line that says what to do. */
  error(message: unknown, ...rest: unknown[]): void {
    this.write(ENDS_OF_A_START.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  /** Nest passes the context last, and the stack of an error before it. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const [stack] = rest.slice(0, -1);
    const context = rest.at(-1);
    if (message instanceof Error) this.pino[level]({ context, err: message });
    else if (typeof stack !== 'string') this.pino[level]({ context }, String(message));
    else this.pino[level]({ context, err: Object.assign(new Error(String(message)), { stack }) });
  }
}

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Writes in this thread, so that lines of the log and other output appear in their order. */
async function prettyLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    singleLine: true,
    ignore: 'pid,hostname,context',
    messageFormat: '{if context}{context}: {end}{msg}',
    sync: true,
  });
}

/** The path of the request's route. No other path is logged: a client may have put a token there. */
function pathOf({ route }: Request): string {
  const { path = '*' } = (route ?? {}) as { path?: string };
  return path.includes('*') ? '(unknown)' : path;
}

function levelFor(status: number, change: RequestChange | undefined): 'error' | 'info' | 'debug' {
  // 503 is no fault of ours. An outage has its own line at `error`, and a shutdown is no reason for an alarm.
  if (status >= 500 && status !== 503) return 'error';
  // Who corrected or deleted a log must be known. Of creates there are thousands a second.
  const isKept = change !== undefined && change.kind !== 'record';
  return status >= 400 || isKept ? 'info' : 'debug';
}

function changed(change: RequestChange | undefined): { readonly change?: string; readonly timeLog?: string } {
  return change ? { change: change.kind, timeLog: change.id } : {};
}
