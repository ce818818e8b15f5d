import { type ArgumentsHost, Catch } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { responseForThrown, DomainError, ErrorEnvelopeFilter } from '../../errors/src/index.js';
import { MessagesUnderWay } from './messages-under-way.js';

/** ErrorEnvelopeFilter for messages that MessageGate counts: they are answered then. */
@Catch()
export class MessageErrorFilter extends ErrorEnvelopeFilter {
  constructor(private readonly underWay: MessagesUnderWay) {
    super();
  }

  override catch(thrown: unknown, host: ArgumentsHost): Observable<never> {
    const { status, body } = responseForThrown(thrown);
    const { id } = this.underWay.end(host, {
      error: body.error,
      status,
      reason: thrown instanceof DomainError ? thrown.logged : undefined,
    });
    return this.answerMessage(thrown, id);
  }
}
