import type { IncomingMessage } from 'node:http';

/**
 * The fields of a DTO for which the request has a header, by the name of the field. Upper and lower case are the same
 * in names of headers (RFC 9110, section 5.1).
 */
export function readHeaders({ headersDistinct }: IncomingMessage, fields: readonly string[]) {
  const values: Record<string, string> = {};
  const repeated = new Set<string>();
  for (const field of fields) {
    const given = headersDistinct[field.toLowerCase()];
    if (given === undefined) continue;
    values[field] = given[0]!;
    if (given.length > 1) repeated.add(field);
  }
  return { values, repeated };
}
