import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, throwError } from 'rxjs';
import { DomainError } from './domain-error.js';
import { answerForThrown, type ErrorEnvelope } from './error-envelope.js';

/**
 * Sets the challenge (RFC 6750, section 3) that a guard has kept in `response.locals` for refusals which come after it,
 * where a DomainError with status 403 is one, and the guard has not set another.
 */
export function setChallenge(thrown: unknown, host: ArgumentsHost): void {
  const response = host.switchToHttp().getResponse<Response>();
  const { challenge } = response.locals as { readonly challenge?: string };
  if (challenge === undefined || !(thrown instanceof DomainError) || thrown.status !== 403) return;
  if (!response.hasHeader('WWW-Authenticate')) response.setHeader('WWW-Authenticate', challenge);
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
    const request = host.switchToHttp().getRequest<{ readonly id?: unknown }>();
    const response = host.switchToHttp().getResponse<Response>();
    const { status, body, headers } = answerForThrown(thrown);
    if (body.error === 'INTERNAL_ERROR') this.logUnexpected(thrown, request.id);
    // The access log reads this.
    response.locals.error = body.error;
    response.locals.reason = thrown instanceof DomainError ? thrown.logged : undefined;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const text = JSON.stringify(body);
    setChallenge(thrown, host);
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
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
