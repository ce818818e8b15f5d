import type { Application, Request, Response } from 'express';
import {
  All,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { AccessGuard, IS_PUBLIC } from '../../auth/src/index.js';
import { DomainError } from '../../errors/src/index.js';
import { HTTP_EDGE_OPTIONS, type HttpEdgeOptions } from './http-edge.options.js';

/** Requires a token on unknown paths and methods too, except on the paths of public routes. */
@Injectable()
class UnknownRouteGuard extends AccessGuard {
  @Inject(HTTP_EDGE_OPTIONS) private readonly options!: HttpEdgeOptions;

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { app, method, path } = context.switchToHttp().getRequest<Request>();
    const handlers = routesOf(app, path).flatMap(({ stack }) => stack.map(({ handle }) => handle));
    if (handlers.some((handler) => this.reflector.get(IS_PUBLIC, handler))) return true;
    try {
      return await super.canActivate(context);
    } catch (error) {
      const { page } = this.options;
      const isStart = method === 'GET' && path === '/' && page !== undefined;
      if (!isStart || !(error instanceof DomainError) || error.code !== 'UNAUTHORIZED') throw error;
      throw new DomainError(
        'UNAUTHORIZED',
        `${error.message}; the page ${page} below this address says how to call this service`,
      );
    }
  }
}

/** Answers requests without a route: 405 on a known path, else 404. Import its module last. */
@Controller()
@UseGuards(UnknownRouteGuard)
export class UnknownRouteController {
  @All('{*path}')
  refuse(@Req() { app, path }: Request, @Res({ passthrough: true }) response: Response): never {
    const allowed = methodsOf(routesOf(app, path));
    if (allowed.length === 0) throw new DomainError('NOT_FOUND');
    response.setHeader('Allow', allowed.join(', '));
    throw new DomainError('METHOD_NOT_ALLOWED');
  }
}

/** A route in the form of Express's router. */
interface Route {
  readonly path: string;
  /** The methods by their names in lower case; `_all` if the route takes any. */
  readonly methods: Readonly<Record<string, boolean>>;
  /** The handlers, which have the metadata of the controller's method. */
  readonly stack: readonly { readonly handle: (...parameters: never[]) => unknown }[];
}

/**
 * Returns the routes of an app that match a path, without those with a parameter if it has routes of its own. Excludes
 * routes with a wildcard, such as those of UnknownRouteController and of middleware.
 */
function routesOf(app: Application, path: string): Route[] {
  const matching = app.router.stack
    .map(({ route }) => route as Route | undefined)
    .filter((route) => route !== undefined)
    .filter((route) => !route.path.includes('*') && matches(route.path, path));
  const fixed = matching.filter((route) => !route.path.includes(':'));
  return fixed.length > 0 ? fixed : matching;
}

/** Returns whether a route matches a path. A parameter is a whole segment. */
function matches(route: string, path: string): boolean {
  const [expected, segments] = [normalizePath(route).split('/'), normalizePath(path).split('/')];
  return (
    expected.length === segments.length &&
    expected.every((name, index) =>
      name.startsWith(':') ? segments[index] !== '' : segments[index] === name,
    )
  );
}

/** Normalizes a path: Express ignores case and a slash at the end. */
function normalizePath(path: string): string {
  return path.toLowerCase().replace(/\/$/, '');
}

/** Returns the sorted methods of the routes. Express answers HEAD on each route with GET. */
function methodsOf(routes: readonly Route[]): string[] {
  const methods = new Set(routes.flatMap((route) => Object.keys(route.methods)));
  if (methods.has('get')) methods.add('head');
  return [...methods].map((method) => method.toUpperCase()).sort();
}
