import type { Request, Response } from 'express';
import { Logger, type Params, PinoLogger } from 'nestjs-pino';

/** How the log is written: lines of JSON, or lines for a person at a terminal. */
export function loggingParams(level: string, asJson: boolean): Params {
  return {
    pinoHttp: {
      level,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      ...(!asJson && {
        transport: { target: 'pino-pretty', options: { singleLine: true, ignore: 'pid,hostname' } },
      }),
    },
  };
}

/** The path of the route that took the request. Any other path is not told: a client may have put a token there. */
function pathOf({ route }: Request): string {
  const { path = '*' } = (route ?? {}) as { path?: string };
  return path.includes('*') ? '(unknown)' : path;
}

function levelFor(status: number): 'error' | 'info' | 'debug' {
  if (status >= 500) return 'error';
  return status >= 400 ? 'info' : 'debug';
}

/** Contexts in which Nest tells at every start what it wires. */
const WIRING = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Nest's logger over pino; what it wires is for `debug`, not for every start. */
export class ServiceLogger extends Logger {
  private readonly requests: PinoLogger;

  constructor(params: Params) {
    const pino = new PinoLogger(params);
    super(pino, params);
    this.requests = pino;
  }

  /**
   * One line for each request that was refused or failed, and at `debug` for each that was served. It holds the request id
   * and the path of the route, never anything else that was sent.
   */
  logRequest(request: Request & { id: string }, response: Response, milliseconds: number): void {
    const level = levelFor(response.statusCode);
    if (!this.requests.logger.isLevelEnabled(level)) return;
    const { id: requestId, method } = request;
    const line = {
      requestId,
      method,
      path: pathOf(request),
      status: response.statusCode,
      // Left there by the filter.
      error: response.locals.error as string | undefined,
      milliseconds: Math.round(milliseconds),
      ...(!response.writableFinished && { aborted: true }),
    };
    this.requests.logger[level](line, 'request');
  }

  /** What ends a start is told by main.ts, in one line; Nest would add it with its stack. */
  override error(message: unknown, ...optionalParams: unknown[]): void {
    if (optionalParams.at(-1) === 'ExceptionHandler') this.debug(message, ...optionalParams);
    else super.error(message, ...optionalParams);
  }

  override log(message: unknown, ...optionalParams: unknown[]): void {
    if (WIRING.has(String(optionalParams.at(-1)))) this.debug(message, ...optionalParams);
    else super.log(message, ...optionalParams);
  }
}
