import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Of Brotli: the best that it can would take seconds of a core, for a tenth less. */
const QUALITY = 6;

const ENCODERS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};
type Encoding = keyof typeof ENCODERS;
/** The smallest first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

/** Bytes that are sent in the smallest encoding that the client takes (RFC 9110, section 12.5.3). */
export type Encoded = (request: Request, response: Response) => Promise<void>;

/**
 * Reads and encodes when first asked, once for each encoding: all readers get the same bytes, however many and slow they are.
 */
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
