/** A request target in the one form that the router reads: a path that can be decoded, and its query. */
export function routable(target: string): string {
  const path = target.startsWith('/') ? target : originForm(target);
  return path.includes('%') || path.includes('#') ? withLiteralPath(path) : path;
}

/** The path and query of an absolute target (RFC 9112, section 3.2.2); any other target, such as `*`, is an unknown path. */
function originForm(target: string): string {
  if (!URL.canParse(target)) return `/${encodeURIComponent(target)}`;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : `/${encodeURIComponent(target)}`;
}

/**
 * A path that is no valid percent-encoding is taken as it is written: so it meets authentication and the 404
 * like any other unknown path, where the router would have thrown before both. So is one with a fragment, which no target
 * has (RFC 9112, section 3.2): the router would have dropped it, and the query behind it.
 */
function withLiteralPath(url: string): string {
  const [path = '', ...query] = url.split('?');
  const literal = isDecodable(path) ? path : path.replaceAll('%', '%25');
  return [literal.replaceAll('#', '%23'), ...query].join('?');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
