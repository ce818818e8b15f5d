/** A request target in the form that the router reads: a path that can be decoded, and its query. */
export function routable(target: string): string {
  const path = target.startsWith('/') ? target : originForm(target);
  return path.includes('%') || path.includes('#') ? withLiteralPath(path) : path;
}

/** Path and query of an absolute target (RFC 9112, section 3.2.2). Other targets, such as `*`, are unknown paths. */
function originForm(target: string): string {
  if (!URL.canParse(target)) return `/${encodeURIComponent(target)}`;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : `/${encodeURIComponent(target)}`;
}

/**
 * Makes two kinds of targets unknown paths, which meet authentication and the 404 like any other: a path that is no
 * valid percent-encoding, on which the router would throw first; and one with a fragment, which no target has (RFC
 * 9112, section 3.2). The router would drop the fragment and the query behind it.
 */
function withLiteralPath(url: string): string {
  const [path = '', ...query] = url.split('?');
  const literal = isDecodable(path) ? path : path.replaceAll('%', '%25');
  return [literal.replaceAll('#', '%23'), ...query].join('?');
}

/** Whether each % of a text begins an octet (RFC 3986, section 2.1), and these are UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
