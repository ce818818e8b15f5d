import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import type { Request } from 'express';

export interface Staff {
  readonly name: string;
  readonly mayWrite: boolean;
  /** The projects whose logs they may see and write; undefined: all. */
  readonly projects?: readonly string[];
}

const STAFF = new Map<unknown, Staff>([
  ['key-of-ada', { name: 'ada', mayWrite: true }],
  ['key-of-ben', { name: 'ben', mayWrite: false }],
  ['key-of-cleo', { name: 'cleo', mayWrite: true, projects: ['22222222-2222-2222-2222-222222222222'] }],
]);

/** The way into our app. A real one asks its identity provider. Messages come from a broker that we trust. */
@Injectable()
export class StaffGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getType() === 'rpc') return true;
    const request = context.switchToHttp().getRequest<Request & { user?: Staff }>();
    request.user = STAFF.get(request.headers['x-api-key']);
    if (request.user === undefined) throw new UnauthorizedException();
    return true;
  }
}

/** Our staff in the terms of time logs. */
export function toCaller(context: ExecutionContext) {
  if (context.getType() === 'rpc') return { id: 'broker', scopes: ['time-logs:read', 'time-logs:write'] };
  const { user } = context.switchToHttp().getRequest<Request & { user: Staff }>();
  return {
    id: user.name,
    scopes: ['time-logs:read', ...(user.mayWrite ? ['time-logs:write', 'time-logs:correct'] : [])],
    projects: user.projects,
  };
}
