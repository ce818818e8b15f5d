import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Sends bytes, compressed if the client accepts gzip (RFC 9110, section 12.5.3). */
export type SendEncoded = (request: Request, response: Response) => Promise<void>;

/** Returns a sender that reads the bytes on the first request and compresses them once. */
export function encoded(read: () => Buffer): SendEncoded {
  let plain: Buffer | undefined;
  let compressed: Promise<Buffer> | undefined;
  return async (request, response) => {
    plain ??= read();
    response.vary('Accept-Encoding');
    if (request.acceptsEncodings('gzip') !== 'gzip') {
      response.send(plain);
      return;
    }
    response.setHeader('Content-Encoding', 'gzip');
    response.send(await (compressed ??= promisify(gzip)(plain)));
  };
}
