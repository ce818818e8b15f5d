import { describe, expect, it } from '@jest/globals';
import { AccessToken } from './access-token.js';
import { tokenTable } from './token-table.js';

const NOW = new Date('2026-01-31T12:00:00Z');

function token(changes: Partial<AccessToken>): AccessToken {
  const plain = {
    id: '019c1370-4e1b-7000-8000-000000000001',
    name: 'ci',
    digest: Buffer.from('the digest'),
    scopes: ['time-logs:read', 'time-logs:write'],
    createdAt: new Date('2026-01-01T09:30:59.999Z'),
    projects: null,
    bound: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    previousDigest: null,
    previousUntil: null,
  };
  return Object.assign(new AccessToken(), plain, changes);
}

describe('tokenTable', () => {
  it('shows the tokens in columns, with times in UTC', () => {
    const used = {
      name: 'a longer name',
      scopes: ['time-logs:read'],
      lastUsedAt: new Date('2026-01-30T23:59Z'),
    };
    expect(tokenTable([token({}), token(used)], NOW)).toBe(
      [
        'ID                                    NAME           SCOPES                          CREATED            EXPIRES  LAST USED          STATE',
        '019c1370-4e1b-7000-8000-000000000001  ci             time-logs:read time-logs:write  2026-01-01 09:30Z  never    never              active',
        '019c1370-4e1b-7000-8000-000000000001  a longer name  time-logs:read                  2026-01-01 09:30Z  never    2026-01-30 23:59Z  active',
      ].join('\n'),
    );
  });

  it.each([
    ['active', {}],
    ['expired', { expiresAt: NOW }],
    ['revoked', { revokedAt: NOW }],
  ])('shows that a token is %s: %p', (state, changes) => {
    const [, row] = tokenTable([token(changes)], NOW).split('\n');
    expect(row).toMatch(new RegExp(`  ${state}$`));
  });
});
