import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  Optional,
  type ArgumentsHost,
  Catch,
  type CallHandler,
  type NestInterceptor,
} from '@nestjs/common';
import { AccessGuard } from '../../libs/auth/src/index.js';
import { DomainError, responseForThrown, ErrorEnvelopeFilter } from '../../libs/errors/src/index.js';
import {
  applyRules,
  REQUEST_RULES,
  type RequestRules,
  withinDeadline,
} from '../../libs/request-state/src/index.js';
import { isJsonObject, requireBoundedMessage } from '../../libs/strict-request/src/index.js';
import { InFlightMessages } from './in-flight-messages.js';
import { acknowledge } from './rpc-message.js';
import { type Observable, from, lastValueFrom, tap } from 'rxjs';

/** The injection token of whether messages of RabbitMQ are acknowledged here. */
export const ACKNOWLEDGES = Symbol('ACKNOWLEDGES');

/**
 * The guard of every message. It acknowledges a message of RabbitMQ, so that one that is refused is
 * acknowledged too, and none is delivered again that may have been stored. Then it checks the
 * access.
 */
@Injectable()
export class MessageGuard implements CanActivate {
  constructor(
    private readonly access: AccessGuard,
    private readonly inFlight: InFlightMessages,
    @Inject(REQUEST_RULES) private readonly rules: RequestRules,
    @Optional() @Inject(ACKNOWLEDGES) private readonly acknowledges = false,
  ) {}

  /**
   * Throws DomainError UNAUTHORIZED if the data is not an object, SERVICE_UNAVAILABLE during a
   * shutdown, and what AccessGuard throws.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const rpc = context.switchToRpc();
    const data = rpc.getData<unknown>();
    if (this.acknowledges) await acknowledge(rpc.getContext());
    if (!isJsonObject(data)) throw new DomainError('UNAUTHORIZED');
    if (this.inFlight.isDraining) throw new DomainError('SERVICE_UNAVAILABLE');
    applyRules(data, this.rules);
    return this.inFlight.run(async () => this.access.canActivate(context));
  }
}

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
    const answer = this.inFlight.run(() => withinDeadline(data, lastValueFrom(next.handle())));
    return from(answer).pipe(tap(() => this.inFlight.report(context)));
  }
}
