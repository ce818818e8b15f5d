import { AccessTokenModule, type AccessTokenSettings } from './access-token.module.js';
import { AccessTokenSchema } from './access-token.schema.js';
import { CreateAccessTokens1763683100000 } from './migrations/1763683100000-create-access-tokens.js';

export { AccessTokenService, type NewAccessToken } from './access-token.service.js';
export { AccessTokenVerifier } from './access-token.verifier.js';
export { ensureFirstToken, firstTokenFile, rotateToken } from './first-token.js';
export { formatMinute, tokenTable } from './token-table.js';

/** The ServiceModule of access tokens. */
export const accessTokens = {
  bind: (settings: AccessTokenSettings) => AccessTokenModule.forRoot(settings),
  entities: [AccessTokenSchema],
  migrations: [CreateAccessTokens1763683100000],
};
