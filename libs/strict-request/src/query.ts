/** The parameters of a query. */
export interface Query {
  readonly values: Readonly<Record<string, string>>;
  /** The names that occur more than once. */
  readonly repeated: ReadonlySet<string>;
}

/** Parses the query of a URL. Express's parser would lose repeated names and brackets. */
export function readQuery(url: string): Query {
  const start = url.indexOf('?');
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const repeated = new Set<string>();
  if (start === -1) return { values, repeated };
  // URLSearchParams drops one question mark. It must not be that of the first name.
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    if (name in values) repeated.add(name);
    values[name] = value;
  }
  return { values, repeated };
}
