import type { ServerResponse } from 'node:http';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Ends the response with JSON, without the Buffer that Express would copy it into. */
export function sendJson(response: ServerResponse, status: number, json: string, type = JSON_TYPE): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  const length = Buffer.byteLength(json);
  response.setHeader('Content-Length', length);
  // Equal lengths mean that all characters are ASCII. latin1 has the same bytes and needs no encoder.
  response.end(json, length === json.length ? 'latin1' : 'utf8');
}
