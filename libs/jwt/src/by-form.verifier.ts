import { type Principal, TokenVerifier } from '../../auth/src/index.js';
import { hasJwtForm } from './jwt-form.js';

/** Gives each token to one of two verifiers: to the first if it looks like a JWT, else to the second. */
export class ByFormVerifier extends TokenVerifier {
  constructor(
    private readonly jwts: TokenVerifier,
    private readonly others: TokenVerifier,
  ) {
    super();
  }

  override verify(token: string): Promise<Principal | undefined> {
    return (hasJwtForm(token) ? this.jwts : this.others).verify(token);
  }
}
