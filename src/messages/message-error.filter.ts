import { type ArgumentsHost, Catch } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { responseForThrown, DomainError, ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import { InFlightMessages } from './in-flight-messages.js';

/** Replies with an error to a message, and reports it to InFlightMessages. */
@Catch()
export class MessageErrorFilter extends ErrorEnvelopeFilter {
  constructor(private readonly inFlight: InFlightMessages) {
    super();
  }

  override catch(thrown: unknown, host: ArgumentsHost): Observable<never> {
    const { status, body } = responseForThrown(thrown);
    const { id } = this.inFlight.report(host, {
      error: body.error,
      status,
      reason: thrown instanceof DomainError ? thrown.logged : undefined,
    });
    return this.answerMessage(thrown, id);
  }
}
