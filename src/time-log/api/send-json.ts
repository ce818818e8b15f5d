import type { ServerResponse } from 'node:http';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Ends the response with a text, which is sent together with the headers. Express would first copy it into a Buffer.
 */
export function sendJson(response: ServerResponse, status: number, text: string, type = JSON_TYPE): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  const length = Buffer.byteLength(text);
  response.setHeader('Content-Length', length);
  // As many bytes as characters: all are ASCII. latin1 gives the same bytes, and Node needs no encoder for it.
  response.end(text, length === text.length ? 'latin1' : 'utf8');
}
