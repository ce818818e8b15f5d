import { isDecodable } from '../../strict-url/src/index.js';

/**
 * Returns a request target in a form that the router accepts: a decodable path, and the query. Of
 * leading slashes one remains: clients append paths to base addresses that end with a slash.
 */
export function toRoutableTarget(target: string): string {
  const path = (target.startsWith('/') ? target : originForm(target)).replace(/^\/{2,}/, '/');
  return path.includes('%') || path.includes('#') ? withLiteralPath(path) : path;
}

/** Returns path and query of an absolute target (RFC 9112, section 3.2.2), else an unknown path. */
function originForm(target: string): string {
  if (!URL.canParse(target)) return `/${encodeURIComponent(target)}`;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : `/${encodeURIComponent(target)}`;
}

/**
 * Turns two kinds of targets into unknown paths, which get a 401 or 404 like any other. The router
 * would throw on a path with invalid percent-encoding. It would drop a fragment, which a target
 * must not have (RFC 9112, section 3.2), with the query behind it.
 */
function withLiteralPath(url: string): string {
  const [path = '', ...query] = url.split('?');
  const literal = isDecodable(path) ? path : path.replaceAll('%', '%25');
  return [literal.replaceAll('#', '%23'), ...query].join('?');
}
