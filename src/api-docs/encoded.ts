import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** The level of Brotli. The highest one would save a tenth and take seconds of a core. */
const QUALITY = 6;

const ENCODERS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};
type Encoding = keyof typeof ENCODERS;
/** The smallest comes first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

/** Bytes that are sent in the smallest encoding that the client takes (RFC 9110, section 12.5.3). */
export type Encoded = (request: Request, response: Response) => Promise<void>;

/** Reads and encodes on the first request, once for each encoding. All readers share the same bytes. */
export function encoded(read: () => Buffer): Encoded {
  let plain: Buffer | undefined;
  const made = new Map<Encoding, Promise<Buffer>>();
  return async (request, response) => {
    plain ??= read();
    response.vary('Accept-Encoding');
    const encoding = ENCODINGS.find((one) => request.acceptsEncodings(one) === one);
    if (encoding === undefined) {
      response.send(plain);
      return;
    }
    const bytes = made.get(encoding) ?? ENCODERS[encoding](plain);
    made.set(encoding, bytes);
    response.setHeader('Content-Encoding', encoding);
    response.send(await bytes);
  };
}
