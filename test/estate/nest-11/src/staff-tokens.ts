import { type Principal, TokenVerifier } from 'time-logs/auth';

const SCOPES = ['time-logs:read', 'time-logs:write', 'approvals:write'];

/** Who our tokens belong to. A real app asks its identity provider. */
export class StaffTokens extends TokenVerifier {
  override async verify(token: string): Promise<Principal | undefined> {
    return token === 'token-of-ada' ? { id: 'ada', scopes: SCOPES } : undefined;
  }
}
