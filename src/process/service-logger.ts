import type { LoggerService } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type DestinationStream, type Logger, pino } from 'pino';
import { RequestObserver } from '../../libs/http-edge/src/index.js';
import { type RequestChange, stateOf } from '../../libs/request-state/src/index.js';
import type { AnsweredMessage } from '../messages/time-logs/index.js';

/**
 * Contexts in which Nest logs errors that are reported elsewhere: of the start, and of connections
 * for messages. Some of the latter any client can cause.
 */
const REPORTED_ERROR_CONTEXTS = new Set(['ExceptionHandler', 'NestApplication', 'Server']);

/** Contexts in which Nest logs its own modules, routes and connections. */
const WIRING_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'NestMicroservice',
  'Server',
]);

/**
 * Matches the lines that PostgreSQL writes at each start, stop and checkpoint. At a stop, it may
 * report a connection that the service is just closing.
 */
const ROUTINE_LINE =
  /^FATAL: +terminating connection due to administrator command|^LOG: +(starting|listening|database system (was|is) (shut down|ready)|received .* shutdown|aborting any|background worker "logical replication|shutting down|checkpoint)/;

/** A Nest logger that writes with pino. It logs the wiring of Nest itself at `debug`. */
export class ServiceLogger extends RequestObserver implements LoggerService {
  private constructor(private readonly pino: Logger) {
    super();
  }

  /** Returns a logger of JSON lines or readable lines. */
  static async open(level: string, asJson: boolean, destination?: DestinationStream): Promise<ServiceLogger> {
    const options = {
      level,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label: string) => ({ level: label }) },
    };
    return new ServiceLogger(asJson ? pino(options, destination) : pino(options, await prettyLines()));
  }

  /**
   * Logs a request that failed, or that corrected or deleted a time log; any other request only at
   * `debug`. The line contains the request id, the path of the route, the error, the caller and the
   * id of the changed log, but no other data that the client sent.
   */
  override onResponse(request: Request & { id: string }, response: Response, milliseconds: number): void {
    const { caller, change, error, reason } = stateOf(request);
    const level = levelFor(response.statusCode, change);
    if (!this.pino.isLevelEnabled(level)) return;
    const { id: requestId, method } = request;
    const line = {
      requestId,
      method,
      path: pathOf(request),
      status: response.statusCode,
      error,
      reason,
      // Identifies the caller. It is not the token.
      caller: caller?.id,
      ...changeFields(change),
      milliseconds: Math.round(milliseconds),
      ...(!response.writableFinished && { aborted: true }),
    };
    this.pino[level](line, 'request');
  }

  /** Logs a message, as `onResponse` logs a request. */
  readonly logMessage = ({
    id: requestId,
    pattern,
    error,
    status = 200,
    reason,
    caller,
    change,
    milliseconds,
  }: AnsweredMessage): void => {
    const level = levelFor(status, change);
    if (!this.pino.isLevelEnabled(level)) return;
    const line = {
      requestId,
      pattern,
      error,
      reason,
      caller,
      ...changeFields(change),
      milliseconds: Math.round(milliseconds),
    };
    this.pino[level](line, 'message');
  };

  /** Logs a line of the embedded PostgreSQL; routine lines at `debug`. */
  logPostgres(line: string): void {
    this.pino[ROUTINE_LINE.test(line) ? 'debug' : 'info']({ context: 'PostgreSQL' }, line);
  }

  /** Logs an error; at `debug` if it is reported elsewhere. */
  error(message: unknown, ...rest: unknown[]): void {
    this.write(REPORTED_ERROR_CONTEXTS.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING_CONTEXTS.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  /** Nest passes the context as the last argument, and the stack of an error before it. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const [stack] = rest.slice(0, -1);
    const context = rest.at(-1);
    if (message instanceof Error) this.pino[level]({ context, err: message });
    else if (typeof stack !== 'string') this.pino[level]({ context }, String(message));
    else this.pino[level]({ context, err: Object.assign(new Error(String(message)), { stack }) });
  }
}

type Level = 'error' | 'warn' | 'info' | 'debug';

/** Returns a stream that writes in this thread, so that all output keeps its order. */
async function prettyLines(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    singleLine: true,
    ignore: 'pid,hostname,context',
    messageFormat: '{if context}{context}: {end}{msg}',
    sync: true,
  });
}

/** Returns the path of the request's route. An unknown path may contain a token. */
function pathOf({ route }: Request): string {
  const { path = '*' } = (route ?? {}) as { path?: string };
  return path.includes('*') ? '(unknown)' : path;
}

function levelFor(status: number, change: RequestChange | undefined): 'error' | 'info' | 'debug' {
  // 503 is not a fault of the service: an outage has its own line, and a shutdown is normal.
  if (status >= 500 && status !== 503) return 'error';
  // Corrections and deletions are an audit trail. There are thousands of creates per second.
  const isAudited = change !== undefined && change.kind !== 'record';
  return status >= 400 || isAudited ? 'info' : 'debug';
}

function changeFields(change: RequestChange | undefined): {
  readonly change?: string;
  readonly timeLog?: string;
  readonly timeLogs?: number;
} {
  if (change === undefined) return {};
  const { kind, id, count } = change;
  return { change: kind, timeLog: id, ...(count !== undefined && { timeLogs: count }) };
}
