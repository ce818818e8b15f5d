/** Three parts in base64url with dots between (RFC 7515, section 7.1). The last may be empty. */
const JWT_FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Returns whether a text has the form of a JWT. A token without two dots never has it. */
export function hasJwtForm(text: string): boolean {
  return JWT_FORM.test(text);
}
