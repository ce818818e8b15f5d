import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { from, lastValueFrom, type Observable, tap } from 'rxjs';
import {
  REQUEST_RULES,
  type RequestRules,
  requireBoundedMessage,
  withinDeadline,
} from '../../libs/strict-request/src/index.js';
import { InFlightMessages } from './in-flight-messages.js';

/** Limits size, nesting depth and time of every message. MessageErrorFilter reports those that fail. */
@Injectable()
export class MessageInterceptor implements NestInterceptor {
  constructor(
    private readonly inFlight: InFlightMessages,
    @Inject(REQUEST_RULES) private readonly rules: RequestRules,
  ) {}

  /**
   * Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR if the message exceeds a limit,
   * SERVICE_UNAVAILABLE after the deadline.
   */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const data: object = context.switchToRpc().getData();
    requireBoundedMessage(data, this.rules.bodyLimit);
    const answer = this.inFlight.run(data, () => withinDeadline(data, lastValueFrom(next.handle())));
    return from(answer).pipe(tap(() => this.inFlight.report(context)));
  }
}
