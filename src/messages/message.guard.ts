import { type CanActivate, type ExecutionContext, Inject, Injectable, Optional } from '@nestjs/common';
import { AccessGuard } from '../../libs/auth/src/index.js';
import { DomainError } from '../../libs/errors/src/index.js';
import {
  applyRules,
  isJsonObject,
  REQUEST_RULES,
  type RequestRules,
} from '../../libs/strict-request/src/index.js';
import { InFlightMessages } from './in-flight-messages.js';
import { acknowledge } from './rpc-message.js';

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
    return this.inFlight.run(data, async () => this.access.canActivate(context));
  }
}
