import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, throwError } from 'rxjs';
import { stateOf } from '../../request-state/src/index.js';
import { DomainError, isError } from './domain-error.js';
import { responseForThrown, type ErrorEnvelope } from './error-envelope.js';

/** Sets `Retry-After` and `WWW-Authenticate` if they are not set. */
export function setErrorHeaders(thrown: unknown, host: ArgumentsHost): void {
  const response = host.switchToHttp().getResponse<Response>();
  const { challenge } = stateOf(host.switchToHttp().getRequest<object>());
  const isForbidden = thrown instanceof DomainError && thrown.status === 403;
  const headers = {
    'Retry-After': responseForThrown(thrown).headers['Retry-After'],
    'WWW-Authenticate': isForbidden ? challenge : undefined,
  };
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value);
}

/**
 * Converts every thrown value to the error envelope: the body of an HTTP response, or the RPC error of a message. The
 * details of an unexpected error are only logged.
 */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorEnvelopeFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): Observable<never> | undefined {
    const type = host.getType<string>();
    // Without an observable the sender of a message would wait forever.
    if (type === 'rpc') return this.answerMessage(thrown);
    if (type === 'http') this.answerRequest(thrown, host);
    // In other contexts, such as GraphQL, a host has a filter of its own.
    return undefined;
  }

  /** Returns the RPC error. The log includes the id of the request. */
  protected answerMessage(thrown: unknown, requestId?: string): Observable<never> {
    const { body } = responseForThrown(thrown);
    if (body.error === 'INTERNAL_ERROR') this.logUnexpected(thrown, requestId);
    return throwError((): ErrorEnvelope => body);
  }

  private answerRequest(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<{ readonly id?: unknown; readonly route?: object }>();
    const response = host.switchToHttp().getResponse<Response>();
    const { status, body, headers } = responseForThrown(thrown, request.route !== undefined);
    if (body.error === 'INTERNAL_ERROR') this.logUnexpected(thrown, request.id);
    // For the access log.
    const state = stateOf(request);
    state.error = body.error;
    state.reason = thrown instanceof DomainError ? thrown.logged : undefined;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const text = JSON.stringify(body);
    setErrorHeaders(thrown, host);
    response.statusCode = status;
    response.setHeader('Content-Type', headers['Content-Type']!);
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
  }

  /** Logs only name, message and stack: a driver's error also has the SQL and its parameters. */
  private logUnexpected(thrown: unknown, requestId?: unknown): void {
    const request = typeof requestId === 'string' ? ` (${requestId})` : '';
    if (isError(thrown)) this.logger.error(`${thrown.name}: ${thrown.message}${request}`, thrown.stack);
    else this.logger.error(`a value that is not an Error was thrown: ${typeof thrown}${request}`);
  }
}

/**
 * Handles only DomainErrors, as ErrorEnvelopeFilter does. It is for a host's own routes and
 * messages that call a service of this project. The host's filters handle all other errors.
 */
@Catch(DomainError)
export class DomainErrorFilter extends ErrorEnvelopeFilter {}
