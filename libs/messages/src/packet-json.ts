const jsonOfResponses = new WeakMap<object, string>();

/**
 * Sets the JSON that the transports of this library send for a response, for numbers that a double
 * cannot hold. Transports of a host serialize the response itself.
 */
export function withJson<Response extends object>(response: Response, json: string): Response {
  jsonOfResponses.set(response, json);
  return response;
}

/** Returns the JSON of a reply: a response or an error, and the fields that the transport adds. */
export function packetJson(packet: object): string {
  const { response, ...rest } = packet as { readonly response?: unknown };
  const json = jsonOfResponses.get(response as object);
  if (json === undefined) return JSON.stringify(packet);
  const others = JSON.stringify(rest).slice(1);
  return `{"response":${json}${others === '}' ? '' : ','}${others}`;
}
