export { JwtModule } from './jwt.module.js';
export { JwtVerifier } from './jwt.verifier.js';
