import type { Caller } from './caller.js';
import { TokenVerifier } from './token-verifier.js';

/**
 * Passes each token to the first verifier if its format is accepted, else to the second. The first
 * one also gets the tokens that the second does not know, so that it can log why it refuses them.
 */
export class DelegatingVerifier extends TokenVerifier {
  constructor(
    private readonly isAccepted: (token: string) => boolean,
    private readonly first: TokenVerifier,
    private readonly second: TokenVerifier,
  ) {
    super();
  }

  override async verify(token: string): Promise<Caller | undefined> {
    const caller = this.isAccepted(token) ? undefined : await this.second.verify(token);
    return caller ?? this.first.verify(token);
  }
}
