/** The parameters of a request's query; a parameter that was given more than once is also named in `repeated`. */
export interface Query {
  readonly values: Readonly<Record<string, string>>;
  readonly repeated: ReadonlySet<string>;
}

/** Reads the raw query, so that neither repeats nor brackets can be lost on the way; `+` and `%20` are spaces. */
export function readQuery(url: string): Query {
  const start = url.indexOf('?');
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const repeated = new Set<string>();
  if (start === -1) return { values, repeated };
  // With its question mark: of a text that begins with one the parser takes it away, which may be that of a name.
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    if (name in values) repeated.add(name);
    values[name] = value;
  }
  return { values, repeated };
}
