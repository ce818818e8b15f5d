/** The parameters of a request's query. `repeated` names those that were given more than once. */
export interface Query {
  readonly values: Readonly<Record<string, string>>;
  readonly repeated: ReadonlySet<string>;
}

/** Reads the raw query. Express's own parser would lose repeated names and brackets. `+` and `%20` are spaces. */
export function readQuery(url: string): Query {
  const start = url.indexOf('?');
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const repeated = new Set<string>();
  if (start === -1) return { values, repeated };
  // URLSearchParams drops one leading question mark. It gets the query's own, since the first name may begin with one.
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    if (name in values) repeated.add(name);
    values[name] = value;
  }
  return { values, repeated };
}
