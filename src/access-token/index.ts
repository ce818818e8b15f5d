import { AccessTokenSchema } from './access-token.schema.js';
import { CreateAccessTokens1763683100000 } from './migrations/1763683100000-create-access-tokens.js';

export { AccessToken, type Scope, SCOPES, TIME_LOG_SCOPES } from './access-token.js';
export { AccessTokenModule } from './access-token.module.js';
export { AccessTokenService } from './access-token.service.js';
export { AccessTokenVerifier } from './access-token.verifier.js';
export { ensureFirstToken } from './first-token.js';
export { tokenTable } from './token-table.js';

/** What a DataSource must know to keep access tokens. */
export const accessTokenEntities = [AccessTokenSchema];
/** What makes their tables, in order. */
export const accessTokenMigrations = [CreateAccessTokens1763683100000];
