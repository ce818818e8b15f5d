import type { IncomingMessage } from 'node:http';

/** What a request or a message brings to say whose it is. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
  /** The header came more than once. */
  readonly isRepeated?: boolean;
}

/** Those of a request. */
export function credentialsOf({ headersDistinct }: IncomingMessage): Credentials {
  const [authorization, second] = headersDistinct.authorization ?? [];
  return { authorization, isRepeated: second !== undefined };
}

/** Those of a message, which has its token in its data. A token begins with no space, which a header would lose. */
export function credentialsIn(data: { readonly accessToken?: unknown }): Credentials {
  const { accessToken } = data;
  const isToken = typeof accessToken === 'string' && !accessToken.startsWith(' ');
  return isToken ? { authorization: `Bearer ${accessToken}` } : {};
}
