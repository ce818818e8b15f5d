import type { IncomingMessage } from 'node:http';

const AUTHORIZATION = 'authorization';

/** What a request or a message brings to say whose it is. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
  /** The header came more than once. */
  readonly isRepeated?: boolean;
}

/** Those of a request. */
export function credentialsOf({ headers, rawHeaders }: IncomingMessage): Credentials {
  return { authorization: headers.authorization, isRepeated: countAuthorizations(rawHeaders) > 1 };
}

/** Those of a message, which has its token in its data. A token begins with no space, which a header would lose. */
export function credentialsIn(data: { readonly accessToken?: unknown }): Credentials {
  const { accessToken } = data;
  const isToken = typeof accessToken === 'string' && !accessToken.startsWith(' ');
  return isToken ? { authorization: `Bearer ${accessToken}` } : {};
}

/** Node's `headers` has only the first of several. */
function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count++;
  }
  return count;
}
