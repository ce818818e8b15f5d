import { hash, randomBytes } from 'node:crypto';

/** `tl_` and 256 random bits in base64url. */
const FORM = /^tl_[A-Za-z0-9_-]{43}$/;

/** A new access token. */
export function newToken(): string {
  return `tl_${randomBytes(32).toString('base64url')}`;
}

/** True for a text that could be one of our tokens. Any other text costs no query. */
export function hasTokenForm(text: string): boolean {
  return FORM.test(text);
}

/** SHA-256. It is enough for a token of 256 random bits; only a password would need a slow hash. */
export function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
