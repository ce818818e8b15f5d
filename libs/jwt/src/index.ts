export { JwtModule } from './jwt.module.js';
export { hasJwtForm, JwtVerifier } from './jwt.verifier.js';
