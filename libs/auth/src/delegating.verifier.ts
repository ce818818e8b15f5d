import type { Caller } from './caller.js';
import { TokenVerifier } from './token-verifier.js';

/** Passes each token to the first verifier if its format is accepted, else to the second. */
export class DelegatingVerifier extends TokenVerifier {
  constructor(
    private readonly isAccepted: (token: string) => boolean,
    private readonly first: TokenVerifier,
    private readonly second: TokenVerifier,
  ) {
    super();
  }

  override verify(token: string): Promise<Caller | undefined> {
    return (this.isAccepted(token) ? this.first : this.second).verify(token);
  }
}
