import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import { withinDeadline } from '../../strict-request/src/index.js';
import { DomainError, ERROR_KINDS } from '../../errors/src/index.js';
import { AUTH_OPTIONS, type AuthOptions } from './auth.module-definition.js';
import { BEARER_STRATEGY, type BearerStrategy } from './bearer.strategy.js';
import { OpenRoute } from './open.decorator.js';
import { keepCaller } from './caller.js';
import { type Credentials, credentialsIn, credentialsOf } from './credentials.js';
import { missingScope } from './scopes.decorator.js';
import type { Principal } from './token-verifier.js';

/**
 * Lets a request pass if its bearer token is valid and has the scopes of the route, and puts its Principal into
 * `request.user`. On an `Open` route it lets every request pass. Throws DomainError UNAUTHORIZED or FORBIDDEN and sets
 * the challenge (RFC 6750, section 3), or throws what the app's `admit` throws.
 *
 * The token of a message (Nest's `rpc` context) is the member `accessToken` of its data: not all transports carry
 * headers. Its principal is found by `callerOf(data)`.
 */
@Injectable()
export class BearerAuthGuard extends AuthGuard() {
  constructor(
    @Inject(BEARER_STRATEGY) strategy: BearerStrategy,
    @Inject(AUTH_OPTIONS) private readonly auth: AuthOptions,
    protected readonly reflector: Reflector,
  ) {
    super({ defaultStrategy: strategy.name });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get(OpenRoute, context.getHandler())) return true;
    const called = calledOf(context);
    // passport gets a copy, so that it leaves nothing on the request, and no more than the credentials: it assigns
    // functions to properties, V8 takes such functions for old, and all that they reach waits for a collection of old
    // garbage. With the whole request this was a fifth of the CPU of a create.
    const asked: Asked = isMessage(context) ? credentialsIn(called) : credentialsOf(called as Request);
    await withinDeadline(called, super.canActivate(asked as never) as Promise<boolean>);
    this.judge(asked.verdict!, context);
    return true;
  }

  /** The object that passport works on. */
  override getRequest(asked: unknown): never {
    return asked as never;
  }

  /** What passport could redirect. */
  getResponse(): undefined {
    return undefined;
  }

  /** @nestjs/passport calls this with the strategy's verdict: an error, a principal, or the challenge in `info`. */
  override handleRequest(error: unknown, principal: never, info: unknown, asked: unknown): never {
    (asked as Asked).verdict = { error, principal, info };
    return principal;
  }

  private judge({ error, principal, info }: Verdict, context: ExecutionContext): void {
    if (error) throw error as Error;
    if (!principal) {
      this.challenge(context, typeof info === 'string' ? info : `Bearer realm="${this.auth.realm}"`);
      throw new DomainError('UNAUTHORIZED', ERROR_KINDS.UNAUTHORIZED.message);
    }
    // Before the refusals below, so that their lines in the log name the caller too.
    keepCaller(context, principal);
    if (!isMessage(context)) context.switchToHttp().getRequest<Request>().user = principal;
    this.requireScopes(principal, context);
    this.auth.admit?.(principal, context);
  }

  private requireScopes(principal: Principal, context: ExecutionContext): void {
    const scope = missingScope(this.reflector, principal, context);
    if (scope === undefined) return;
    this.challenge(
      context,
      `Bearer realm="${this.auth.realm}", error="insufficient_scope", scope="${scope}"`,
    );
    throw new DomainError('FORBIDDEN', `the token lacks the scope ${scope}`);
  }

  /** A message has no header for a challenge. */
  private challenge(context: ExecutionContext, challenge: string): void {
    if (isMessage(context)) return;
    context.switchToHttp().getResponse<Response>().setHeader('WWW-Authenticate', challenge);
  }
}

/** What passport is asked, and its answer. */
interface Asked extends Credentials {
  verdict?: Verdict;
}

/** An error, or a principal, or the challenge. */
interface Verdict {
  readonly error: unknown;
  readonly principal: Principal | false;
  readonly info: unknown;
}

function isMessage(context: ExecutionContext): boolean {
  return context.getType() === 'rpc';
}

/** The request, or the data of the message. Throws DomainError UNAUTHORIZED for data that is no object. */
function calledOf(context: ExecutionContext): object {
  const called = context.getArgByIndex<unknown>(0);
  if (typeof called === 'object' && called !== null && !Array.isArray(called)) return called;
  throw new DomainError('UNAUTHORIZED', ERROR_KINDS.UNAUTHORIZED.message);
}
