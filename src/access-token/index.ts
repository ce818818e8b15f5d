import { AccessTokenSchema } from './access-token.js';
import { CreateAccessTokens1763683100000 } from './migrations/1763683100000-create-access-tokens.js';

export { AccessTokenModule } from './access-token.module.js';
export { AccessTokenService, type NewAccessToken } from './access-token.service.js';
export { AccessTokenVerifier } from './access-token.verifier.js';
export { ensureFirstToken, firstTokenFile, rotateToken } from './first-token.js';
export { formatMinute, tokenTable } from './token-table.js';

/** The entities of access tokens, for the DataSource. */
export const accessTokenEntities = [AccessTokenSchema];
/** The migrations that create their table. */
export const accessTokenMigrations = [CreateAccessTokens1763683100000];
