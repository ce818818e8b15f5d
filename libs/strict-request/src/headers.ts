import type { IncomingMessage } from 'node:http';

/**
 * The fields of a DTO for which the request has a header, by the name of the field. Upper and lower case are the same
 * in names of headers (RFC 9110, section 5.1).
 */
export function readHeaders({ rawHeaders }: IncomingMessage, fields: readonly string[]) {
  const values: Record<string, string> = {};
  const repeated = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = fields.find((name) => isSameName(name, rawHeaders[i]!));
    if (field === undefined) continue;
    if (Object.hasOwn(values, field)) repeated.add(field);
    values[field] = rawHeaders[i + 1]!;
  }
  return { values, repeated };
}

function isSameName(a: string, b: string): boolean {
  return a.length === b.length && a.toLowerCase() === b.toLowerCase();
}
