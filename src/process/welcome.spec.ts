import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TimeLogAttributes } from '../time-log/index.js';
import { firstAttributes, welcomeText } from './welcome.js';

const TODAY = new Date('2026-01-31T23:30:00Z');

/** A shell function that replaces curl and prints its arguments, each with a NUL at its end. */
const CURL = 'curl() { printf "%s\\0" "$@"; }\n';

function commandsOf(text: string): string[] {
  return text.split('\n\n').filter((command) => command.startsWith('curl '));
}

/** Returns the arguments into which a shell splits a command. */
function argumentsOf(command: string): string[] {
  return execFileSync('sh', ['-c', CURL + command], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

function textWith(changes: Partial<Parameters<typeof welcomeText>[0]> = {}): string {
  return welcomeText({
    tokenFile: '/nowhere/token',
    host: undefined,
    port: 3000,
    today: TODAY,
    apiDocs: true,
    ...changes,
  });
}

describe('welcomeText', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'welcome-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each([
    'plain',
    'with space/and  more',
    `it's/o'clock`,
    `'`,
    '"quoted"',
    '$HOME `id` $(id) \\ * ? [a] ~ ; & | < > #',
    'ü 日本',
  ])('reads the token from any path: %s', (name) => {
    const tokenFile = join(directory, name, 'access-token');
    mkdirSync(dirname(tokenFile), { recursive: true });
    writeFileSync(tokenFile, 'tl_the-token\n');
    const [record, list, ...more] = commandsOf(textWith({ tokenFile }));
    expect(more).toEqual([]);
    expect(argumentsOf(record!)).toEqual([
      '-w',
      '\\n',
      '-H',
      'Authorization: Bearer tl_the-token',
      '-H',
      'Content-Type: application/json',
      '-d',
      expect.stringMatching(/^\{.*\}$/s),
      'http://localhost:3000/api/v1/time-logs',
    ]);
    expect(argumentsOf(list!)).toEqual([
      '-w',
      '\\n',
      '-H',
      'Authorization: Bearer tl_the-token',
      'http://localhost:3000/api/v1/time-logs',
    ]);
  });

  it.each([
    [undefined, 'http://localhost:8080/'],
    ['0.0.0.0', 'http://localhost:8080/'],
    ['::', 'http://localhost:8080/'],
    ['127.0.0.1', 'http://127.0.0.1:8080/'],
    ['time.example', 'http://time.example:8080/'],
    ['::1', 'http://[::1]:8080/'],
  ])('addresses a service that listens on %s', (host, expected) => {
    const [, list] = commandsOf(textWith({ host, port: 8080 }));
    expect(argumentsOf(list!.replace('$(cat', '$(echo'))).toContain(`${expected}api/v1/time-logs`);
    expect(textWith({ host, port: 8080 })).toContain(`\nTry it: ${expected}docs\n`);
  });
});

describe('firstAttributes', () => {
  const FAULT = { field: 'attributes', rule: 'schema', params: {}, message: 'is not valid' };
  const accepting = (accepts: (sent: unknown) => boolean) =>
    Object.assign(new TimeLogAttributes(), {
      filters: new Map([
        ['userId', 'string'],
        ['billable', 'boolean'],
      ]),
      validate: async (sent: unknown) => ({ faults: accepts(sent) ? [] : [FAULT] }),
    });

  it.each([
    ['no attributes', () => true, undefined],
    ['a text for each filter', (sent: unknown) => sent !== undefined, { userId: 'me' }],
    ['other attributes', () => false, null],
  ])('is what a schema accepts: %s', async (_title, accepts, expected) => {
    expect(await firstAttributes(accepting(accepts))).toEqual(expected);
  });
});
