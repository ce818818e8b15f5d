import { All, Controller, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, ERROR_KINDS } from '../../errors/src/index.js';
import { UnknownRouteGuard } from './unknown-route.guard.js';

/** Answers what no other controller does: 405 on a known path, else 404. Its module must be imported last. */
@Controller()
@UseGuards(UnknownRouteGuard)
export class UnknownRouteController {
  @All('{*path}')
  refuse(@Req() request: Request, @Res({ passthrough: true }) response: Response): never {
    const allowed = allowedMethods(request);
    if (allowed.length === 0) throw new DomainError('NOT_FOUND', ERROR_KINDS.NOT_FOUND.message);
    response.setHeader('Allow', allowed.join(', '));
    throw new DomainError('METHOD_NOT_ALLOWED', ERROR_KINDS.METHOD_NOT_ALLOWED.message);
  }
}

/**
 * The methods of the routes that match a path, as the router itself would match them; a wildcard (this controller's, a
 * middleware's) makes no path known. Express answers HEAD wherever it answers GET.
 */
function allowedMethods({ app, path }: Request): string[] {
  const methods = new Set<string>();
  for (const layer of (app.router as unknown as { stack: RouteLayer[] }).stack) {
    if (!layer.route || layer.route.path.includes('*') || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

interface RouteLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}
