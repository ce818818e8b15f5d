import type { IncomingMessage } from 'node:http';

/**
 * Returns the values of the fields of a DTO for which the request has a header. The names of
 * headers are not case-sensitive (RFC 9110, section 5.1).
 */
export function readHeaders({ headersDistinct }: IncomingMessage, fields: readonly string[]) {
  const values: Record<string, string> = {};
  const repeated = new Set<string>();
  for (const field of fields) {
    const lines = headersDistinct[field.toLowerCase()];
    if (lines === undefined) continue;
    values[field] = lines[0]!;
    if (lines.length > 1) repeated.add(field);
  }
  return { values, repeated };
}
