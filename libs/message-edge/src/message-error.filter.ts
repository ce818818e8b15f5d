import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';
import { answerForThrown, type ErrorEnvelope } from '../../errors/src/index.js';
import { MessagesUnderWay } from './messages-under-way.js';

/**
 * Answers whatever was thrown while a message was handled with the error envelope, as the RPC error. The details of an
 * unexpected error go to the log alone.
 */
@Catch()
export class MessageErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(MessageErrorFilter.name);

  constructor(private readonly underWay: MessagesUnderWay) {}

  catch(thrown: unknown, host: ArgumentsHost): Observable<never> {
    this.underWay.delete(host.switchToRpc().getData());
    const { body } = answerForThrown(thrown);
    if (body.error === 'INTERNAL_ERROR') this.logUnexpected(thrown);
    return throwError((): ErrorEnvelope => body);
  }

  /** Name, message and stack only: a driver's error also carries SQL and its parameters. */
  private logUnexpected(thrown: unknown): void {
    if (thrown instanceof Error) this.logger.error(`${thrown.name}: ${thrown.message}`, thrown.stack);
    else this.logger.error(`thrown: ${typeof thrown}`);
  }
}
