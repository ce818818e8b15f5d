import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import { Logger, type Params, PinoLogger } from 'nestjs-pino';

type IdentifiedRequest = IncomingMessage & { readonly id: string; readonly originalUrl?: string };

/**
 * The log: one line for each request that was refused or failed, and at `debug` for each that was served. A line holds the
 * request id and the path, never the query (a client may have put a token there), a header or a body.
 */
export function loggingParams(level: string, asJson: boolean): Params {
  return {
    pinoHttp: {
      level,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      quietReqLogger: true,
      quietResLogger: true,
      // Left alone it holds all headers.
      serializers: { req: ({ id }: { id: string }) => ({ id }) },
      customAttributeKeys: { reqId: 'requestId' },
      genReqId: (request) => (request as IdentifiedRequest).id,
      customLogLevel: (_request, response) => levelFor(response.statusCode),
      customSuccessObject: summary,
      customErrorObject: (request, response, _error, times: object) => summary(request, response, times),
      customSuccessMessage: () => 'request',
      customErrorMessage: () => 'request',
      ...(!asJson && {
        transport: { target: 'pino-pretty', options: { singleLine: true, ignore: 'pid,hostname' } },
      }),
    },
  };
}

function levelFor(status: number): 'error' | 'info' | 'debug' {
  if (status >= 500) return 'error';
  return status >= 400 ? 'info' : 'debug';
}

function summary(request: IncomingMessage, response: ServerResponse, times: object): object {
  return {
    method: request.method,
    path: (request as IdentifiedRequest).originalUrl?.split('?')[0],
    status: response.statusCode,
    // Left there by the filter.
    error: (response as Response).locals.error as string | undefined,
    milliseconds: 'responseTime' in times ? times.responseTime : undefined,
  };
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
  constructor(params: Params) {
    super(new PinoLogger(params), params);
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
