import { type Principal, TokenVerifier } from '../../auth/src/index.js';
import { hasJwtForm } from './jwt-form.js';

/** Hands each token to one verifier: what has the form of a JWT to the first, anything else to the second. */
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
