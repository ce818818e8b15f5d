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
import { MessagesUnderWay } from './messages-under-way.js';

/**
 * Every message passes it, as a guard before authentication and as an interceptor after it. It limits bytes, depth and
 * waiting, and refuses new messages during a shutdown, or while too many answers wait.
 */
@Injectable()
export class MessageGate implements CanActivate, NestInterceptor {
  constructor(
    private readonly underWay: MessagesUnderWay,
    @Inject(REQUEST_RULES) private readonly rules: RequestRules,
  ) {}

  /** Throws DomainError UNAUTHORIZED for data that is no object, SERVICE_UNAVAILABLE where no more are taken. */
  canActivate(context: ExecutionContext): boolean {
    const data: unknown = context.switchToRpc().getData();
    if (!isJsonObject(data)) throw new DomainError('UNAUTHORIZED');
    if (!this.underWay.begin(context)) throw new DomainError('SERVICE_UNAVAILABLE');
    applyRules(data, this.rules);
    return true;
  }

  /**
   * Throws DomainError PAYLOAD_TOO_LARGE or VALIDATION_ERROR where the message exceeds a limit, SERVICE_UNAVAILABLE
   * after the deadline.
   */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const data: object = context.switchToRpc().getData();
    this.underWay.enter(context);
    const state = stateOf(data);
    if (state.readError) throw state.readError;
    state.responseChannel = this.underWay.outletOf(context);
    requireBoundedMessage(data, this.rules.bodyLimit);
    // What fails ends in the filter.
    return from(withinDeadline(data, lastValueFrom(next.handle()))).pipe(
      tap(() => this.underWay.end(context)),
    );
  }
}

/**
 * The last of the guards. The interceptors of the host come next, and any of them may answer the message itself. So the
 * message is not counted as under way until it reaches the interceptor of MessageGate.
 */
@Injectable()
export class MessageGuarded implements CanActivate {
  constructor(private readonly underWay: MessagesUnderWay) {}

  canActivate(context: ExecutionContext): boolean {
    this.underWay.leave(context);
    return true;
  }
}
