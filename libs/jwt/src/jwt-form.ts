/** Three parts in base64url with dots between (RFC 7515, section 7.1); the last, the signature, may be empty. */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** True for a text that could be a JWT and for nothing that a token without two dots is. */
export function hasJwtForm(text: string): boolean {
  return FORM.test(text);
}
