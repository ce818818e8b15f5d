import type { Caller } from './caller.js';
import { TokenVerifier } from './token-verifier.js';

/** Passes each token to one of two verifiers: to the first if it accepts the form of the token, otherwise to the second. */
export class ByFormVerifier extends TokenVerifier {
  constructor(
    private readonly accepts: (token: string) => boolean,
    private readonly first: TokenVerifier,
    private readonly others: TokenVerifier,
  ) {
    super();
  }

  override verify(token: string): Promise<Caller | undefined> {
    return (this.accepts(token) ? this.first : this.others).verify(token);
  }
}
