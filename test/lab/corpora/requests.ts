export const TIME_LOGS = '/api/v1/time-logs';
/** Declared by the deployment, so that it needs no row. */
export const TOKEN = 'a-token-that-the-deployment-declares';

/** A message of Nest. */
export interface Message {
  readonly pattern: string;
  readonly bytes: Buffer;
}

/** The bytes of a whole GET, with the token unless the headers say otherwise. */
export function get(target: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const all = { Host: 'x', Authorization: `Bearer ${TOKEN}`, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/** The bytes of a whole create, with the token. */
export function post(body: Buffer, contentType = 'application/json'): Buffer {
  const head =
    `POST ${TIME_LOGS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n` +
    `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** The bytes of a message of Nest, with one member of its data as bytes of JSON. */
export function messageOf(pattern: string, member: string, value: Buffer): Message {
  const packet = JSON.stringify({ pattern, id: '1', data: { accessToken: TOKEN, [member]: '|' } });
  const at = packet.lastIndexOf('"|"');
  const bytes = [Buffer.from(packet.slice(0, at)), value, Buffer.from(packet.slice(at + 3))];
  return { pattern, bytes: Buffer.concat(bytes) };
}

/** The body of a create that is valid but for what one of its members may be. */
export function bodyWith(projectId: string, member: string, value: Buffer | string): Buffer {
  const valid = { projectId, duration: 1, date: '2026-01-31' };
  const others = Object.entries(valid).filter(([name]) => name !== member);
  const text = others.map(([name, other]) => `"${name}":${JSON.stringify(other)},`).join('');
  return Buffer.concat([Buffer.from(`{${text}"${member}":`), Buffer.from(value as string), Buffer.from('}')]);
}
