import { type Caller, TokenVerifier } from 'time-logs/auth';
import type { Repository } from 'typeorm';
import type { User } from './user.entity';

const MEMBER = ['time-logs:read', 'time-logs:write'];

/** Our roles, as the scopes that routes ask for. */
const SCOPES = {
  member: MEMBER,
  manager: [...MEMBER, 'time-logs:correct', 'projects:write'],
};

/** Finds the owner of a token. */
export class StaffTokens extends TokenVerifier {
  constructor(private readonly users: Pick<Repository<User>, 'findOneBy'>) {
    super();
  }

  override async verify(token: string): Promise<Caller | undefined> {
    const user = await this.users.findOneBy({ token });
    return user ? { id: user.name, scopes: SCOPES[user.role] } : undefined;
  }
}
