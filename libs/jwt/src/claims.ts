import { type Caller, isAttributeValue, parseProjectBinding } from '../../auth/src/index.js';

/**
 * Returns a claim of a token. A name that the token does not have is read as a path with dots, such
 * as `resource_access.time-logs.roles`. The names on it may have dots, too, as URLs have.
 */
export function claimOf(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  if (Object.hasOwn(claims, path)) return (claims as Record<string, unknown>)[path];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    const value = Object.hasOwn(claims, name) && (claims as Record<string, unknown>)[name];
    const found = claimOf(value, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the scopes of the first claim that has any: a string (RFC 8693, section 4.2) or the array
 * of some issuers. Removes the prefix from each scope that has it.
 */
export function scopesOf(claims: unknown, names: readonly string[], prefix: string): readonly string[] {
  for (const name of names) {
    const claim = claimOf(claims, name);
    const values: readonly unknown[] =
      typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
    const scopes = values.filter((value): value is string => typeof value === 'string' && value !== '');
    if (scopes.length > 0)
      return scopes.map((scope) => (scope.startsWith(prefix) ? scope.slice(prefix.length) : scope));
  }
  return [];
}

/** Returns the projects of a claim: UUIDs, or `["*"]` for all. Any other value is for none. */
export function projectsOf(claims: unknown, name: string | undefined): Caller['projects'] {
  if (name === undefined) return undefined;
  const value = claimOf(claims, name);
  const isForAll = Array.isArray(value) && value.length === 1 && value[0] === '*';
  return isForAll ? undefined : parseProjectBinding(value, `the claim ${name}`);
}

/**
 * Returns the values of the claims to which a caller is bound, by attributes. Returns the name of a claim whose value
 * cannot bind: the caller must not get more access by that.
 */
export function attributesOf(
  claims: unknown,
  names: Readonly<Record<string, string>>,
): NonNullable<Caller['attributes']> | string {
  const values: Record<string, string | number | boolean> = {};
  for (const [attribute, claim] of Object.entries(names)) {
    const value = claimOf(claims, claim);
    if (!isAttributeValue(value)) return claim;
    values[attribute] = value;
  }
  return values;
}
