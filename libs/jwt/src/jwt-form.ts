/** Three parts in base64url with dots between them (RFC 7515, section 7.1). The last, the signature, may be empty. */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** True for a text that could be a JWT. Never true for a token without two dots. */
export function hasJwtForm(text: string): boolean {
  return FORM.test(text);
}
