import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';
import { answerForThrown, type ErrorEnvelope } from '../../errors/src/index.js';
import { MessagesUnderWay } from './messages-under-way.js';

/**
 * Answers everything that is thrown while a message is handled with the error envelope, as the RPC error. Details of an
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

  /** Only name, message and stack: a driver's error also has the SQL and its parameters. */
  private logUnexpected(thrown: unknown): void {
    if (thrown instanceof Error) this.logger.error(`${thrown.name}: ${thrown.message}`, thrown.stack);
    else this.logger.error(`thrown: ${typeof thrown}`);
  }
}
