import type { IncomingMessage } from 'node:http';

/**
 * Returns the values of the headers with a name, which is in lower case, in their order. `headers` of
 * Node has only the first of some, and joins others; `headersDistinct` converts all names and values.
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]!;
    // The names of headers are not case-sensitive (RFC 9110, section 5.1).
    if (header.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[index + 1]!);
  }
  return values;
}
