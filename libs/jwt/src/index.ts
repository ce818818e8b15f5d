/* Without it only access tokens of our own are taken, and none of an issuer that a company has already. */

export { ByFormVerifier } from './by-form.verifier.js';
export { JwtModule, type JwtOptions } from './jwt.module.js';
export { JwtVerifier } from './jwt.verifier.js';
