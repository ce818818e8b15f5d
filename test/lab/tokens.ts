import { digestOf, newToken } from '../../src/access-token/access-token.js';
import { scopes as allScopes } from '../../src/app.module.js';
import { queryOnce } from '../support/postgres-cluster.js';

interface Rights {
  readonly token?: string;
  readonly scopes?: readonly string[];
  readonly projects?: readonly string[] | undefined;
}

/** Stores a token past the service: a new one for everything, unless it says otherwise. Returns it. */
export async function storeToken(databaseUrl: string, rights: Rights = {}): Promise<string> {
  const { token = newToken(), scopes = allScopes, projects = null } = rights;
  await queryOnce(
    databaseUrl,
    `insert into access_tokens (id, name, digest, scopes, projects, created_at)
     values (gen_random_uuid(), 'stored', $1, $2, $3, now())`,
    [digestOf(token), scopes, projects],
  );
  return token;
}
