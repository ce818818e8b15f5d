import { createHmac } from 'node:crypto';

/** A cursor in the feed, as it is stored. */
export interface StoredCursor {
  /** The position of the mark that the reader has started after, or 0. */
  readonly mark: string;
  readonly position: string;
  readonly logId: string;
}

const TAG_BYTES = 16;

/** Returns the cursor as 64 characters of base64url, which can be read only with the key. */
export function sealCursor(key: string, { mark, position, logId }: StoredCursor): string {
  const plain = Buffer.alloc(32);
  plain.writeBigUInt64BE(BigInt(mark), 0);
  plain.writeBigUInt64BE(BigInt(position), 8);
  plain.write(logId.replaceAll('-', ''), 16, 'hex');
  const tag = tagOf(key, plain);
  return Buffer.concat([tag, crypt(key, tag, plain)]).toString('base64url');
}

/** Returns the cursor of a token, or undefined if the token was made with another key. */
export function openCursor(key: string, token: string): StoredCursor | undefined {
  const bytes = Buffer.from(token, 'base64url');
  const tag = bytes.subarray(0, TAG_BYTES);
  const plain = crypt(key, tag, bytes.subarray(TAG_BYTES));
  if (!tagOf(key, plain).equals(tag)) return undefined;
  return {
    mark: String(plain.readBigUInt64BE(0)),
    position: String(plain.readBigUInt64BE(8)),
    logId: plain.toString('hex', 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  };
}

/** The tag is also the nonce, so equal cursors have equal tokens, and others share no key stream (as in RFC 5297). */
function tagOf(key: string, plain: Buffer): Buffer {
  return createHmac('sha256', key).update('tag').update(plain).digest().subarray(0, TAG_BYTES);
}

/** Encrypts or decrypts 32 bytes. */
function crypt(key: string, tag: Buffer, bytes: Buffer): Buffer {
  const stream = createHmac('sha256', key).update('stream').update(tag).digest();
  return Buffer.from(bytes.map((byte, index) => byte ^ stream[index]!));
}
