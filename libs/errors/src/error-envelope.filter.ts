import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, throwError } from 'rxjs';
import { DomainError } from './domain-error.js';
import { answerForThrown, type ErrorEnvelope } from './error-envelope.js';

/**
 * Sets the headers that an error has beside those of its body, where nobody has set them: `Retry-After`, and the
 * challenge (RFC 6750, section 3) that a guard has kept in `response.locals` for a DomainError with status 403 that
 * comes after it.
 */
export function setErrorHeaders(thrown: unknown, host: ArgumentsHost): void {
  const response = host.switchToHttp().getResponse<Response>();
  const { challenge } = response.locals as { readonly challenge?: string };
  const isRefusal = thrown instanceof DomainError && thrown.status === 403;
  const headers = {
    'Retry-After': answerForThrown(thrown).headers['Retry-After'],
    'WWW-Authenticate': isRefusal ? challenge : undefined,
  };
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value);
}

/**
 * Answers everything that is thrown with the error envelope: as the body over HTTP, as the RPC error of a message.
 * Details of an unexpected error go to the log alone.
 */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorEnvelopeFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): Observable<never> | undefined {
    // As an answer to a message, anything else would let its sender wait for ever.
    if (host.getType() === 'rpc') return this.answerMessage(thrown);
    this.answerRequest(thrown, host);
    return undefined;
  }

  /** The RPC error. `id` is for the log. */
  protected answerMessage(thrown: unknown, id?: string): Observable<never> {
    const { body } = answerForThrown(thrown);
    if (body.error === 'INTERNAL_ERROR') this.logUnexpected(thrown, id);
    return throwError((): ErrorEnvelope => body);
  }

  private answerRequest(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<{ readonly id?: unknown; readonly route?: object }>();
    const response = host.switchToHttp().getResponse<Response>();
    const { status, body, headers } = answerForThrown(thrown, request.route !== undefined);
    if (body.error === 'INTERNAL_ERROR') this.logUnexpected(thrown, request.id);
    // The access log reads this.
    response.locals.error = body.error;
    response.locals.reason = thrown instanceof DomainError ? thrown.logged : undefined;
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

  /** Only name, message and stack: a driver's error also has the SQL and its parameters. */
  private logUnexpected(thrown: unknown, requestId: unknown): void {
    const request = typeof requestId === 'string' ? ` (${requestId})` : '';
    if (thrown instanceof Error)
      this.logger.error(`${thrown.name}: ${thrown.message}${request}`, thrown.stack);
    else this.logger.error(`thrown: ${typeof thrown}${request}`);
  }
}
