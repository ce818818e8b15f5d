import { type ExecutionContext, Injectable } from '@nestjs/common';
import { DomainError, ERROR_KINDS } from '../../errors/src/index.js';
import { BearerAuthGuard } from './bearer-auth.guard.js';
import { keepCaller } from './caller.js';
import type { Principal } from './token-verifier.js';

/**
 * BearerAuthGuard for messages (Nest's `rpc` context). The token is the member `accessToken` of the data, since not all
 * transports carry headers. Throws DomainError UNAUTHORIZED, also for data that is no object, or FORBIDDEN.
 */
@Injectable()
export class BearerMessageGuard extends BearerAuthGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const data: unknown = context.switchToRpc().getData();
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw new DomainError('UNAUTHORIZED', ERROR_KINDS.UNAUTHORIZED.message);
    }
    return super.canActivate(context);
  }

  /** The object that passport works on: a request whose only header is the token. */
  override getRequest(context: ExecutionContext): never {
    const { accessToken } = context.switchToRpc().getData<{ accessToken?: unknown }>();
    const headers =
      typeof accessToken === 'string' && !accessToken.startsWith(' ')
        ? { authorization: `Bearer ${accessToken}` }
        : {};
    return { headers, rawHeaders: [] } as never;
  }

  protected override keep(principal: Principal, context: ExecutionContext): void {
    keepCaller(context, principal);
  }

  /** Does nothing: a message has no header for a challenge. */
  protected override challenge(): void {
    return;
  }
}
