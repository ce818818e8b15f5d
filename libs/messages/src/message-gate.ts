import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { from, lastValueFrom, type Observable, tap } from 'rxjs';
import { DomainError } from '../../errors/src/index.js';
import {
  applyRules,
  isJsonObject,
  REQUEST_RULES,
  type RequestRules,
  requireBoundedMessage,
  stateOf,
  withinDeadline,
} from '../../strict-request/src/index.js';
import { InFlightMessages } from './in-flight-messages.js';

/**
 * The guard before authentication, and the interceptor after it, of every message. It limits size,
 * nesting depth and time, and refuses new messages during a shutdown and while too many replies are
 * unsent.
 */
@Injectable()
export class MessageGate implements CanActivate, NestInterceptor {
  constructor(
    private readonly inFlight: InFlightMessages,
    @Inject(REQUEST_RULES) private readonly rules: RequestRules,
  ) {}

  /**
   * Throws DomainError UNAUTHORIZED if the data is not an object, SERVICE_UNAVAILABLE if no new
   * message may start.
   */
  canActivate(context: ExecutionContext): boolean {
    const data: unknown = context.switchToRpc().getData();
    if (!isJsonObject(data)) throw new DomainError('UNAUTHORIZED');
    if (!this.inFlight.begin(context)) throw new DomainError('SERVICE_UNAVAILABLE');
    applyRules(data, this.rules);
    return true;
  }

  /**
   * Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR if the message exceeds a limit,
   * SERVICE_UNAVAILABLE after the deadline.
   */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const data: object = context.switchToRpc().getData();
    this.inFlight.resume(context);
    const state = stateOf(data);
    if (state.readError) throw state.readError;
    requireBoundedMessage(data, this.rules.bodyLimit);
    // MessageErrorFilter ends messages that fail.
    return from(withinDeadline(data, lastValueFrom(next.handle()))).pipe(
      tap(() => this.inFlight.end(context)),
    );
  }
}

/**
 * The last guard. The interceptors of the host come next, and any of them may answer the message
 * itself. So the message does not count as in flight until it reaches the interceptor of
 * MessageGate.
 */
@Injectable()
export class HandOverGuard implements CanActivate {
  constructor(private readonly inFlight: InFlightMessages) {}

  canActivate(context: ExecutionContext): boolean {
    this.inFlight.suspend(context);
    return true;
  }
}
