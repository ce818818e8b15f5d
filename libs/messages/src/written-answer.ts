const texts = new WeakMap<object, string>();

/**
 * An answer, with the JSON that our own transports write in its place: where numbers cannot hold what it says. Those of
 * a host write the answer.
 */
export function written<Answer extends object>(answer: Answer, json: string): Answer {
  texts.set(answer, json);
  return answer;
}

/** The JSON of what goes back to the sender of a message: an answer or an error, and what the transport adds. */
export function packetJson(packet: object): string {
  const { response, ...rest } = packet as { readonly response?: unknown };
  const text = texts.get(response as object);
  if (text === undefined) return JSON.stringify(packet);
  const others = JSON.stringify(rest).slice(1);
  return `{"response":${text}${others === '}' ? '' : ','}${others}`;
}
