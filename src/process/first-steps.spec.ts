import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstSteps } from './first-steps.js';

const TODAY = new Date('2026-01-31T23:30:00Z');

/** Stands where curl stands, and shows the arguments that it was given, one a line. */
const CURL = 'curl() { printf "%s\\n" "$@"; }\n';

function commandsOf(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('curl '));
}

/** The arguments that a shell makes of a line. */
function argumentsOf(line: string): string[] {
  return execFileSync('sh', ['-c', CURL + line], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

function stepsWith(changes: Partial<Parameters<typeof firstSteps>[0]> = {}): string {
  return firstSteps({
    tokenFile: '/nowhere/token',
    host: undefined,
    port: 3000,
    today: TODAY,
    apiDocs: true,
    ...changes,
  });
}

describe('firstSteps', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'first-steps-'));
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
  ])('reads the token whatever the path holds: %s', (name) => {
    const tokenFile = join(directory, name, 'access-token');
    mkdirSync(dirname(tokenFile), { recursive: true });
    writeFileSync(tokenFile, 'tl_the-token\n');
    const [record, list, ...more] = commandsOf(stepsWith({ tokenFile }));
    expect(more).toEqual([]);
    expect(argumentsOf(record!)).toEqual([
      '-w',
      '\\n',
      '-H',
      'Authorization: Bearer tl_the-token',
      '-H',
      'Content-Type: application/json',
      '-d',
      expect.stringMatching(/^\{.*\}$/),
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

  it('reads the token from a variable where there is no file, and says what puts it there', () => {
    const text = stepsWith({ tokenFile: undefined });
    const [make, record] = text.match(/^(TOKEN|curl).*$/gm) ?? [];
    expect(text.indexOf('There is no token yet.')).toBeLessThan(text.indexOf(make!));
    const script = `npm() { echo 'Token 1 for'; echo "tl_$*"; }\n${make}\n${CURL}${record}`;
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toContain(
      '\nAuthorization: Bearer tl_run --silent token -- create --name me\n',
    );
  });

  it('is text that a shell can parse', () => {
    const script = commandsOf(stepsWith({ tokenFile: `/o'clock/a b/"token` })).join('\n');
    expect(() => execFileSync('sh', ['-n'], { input: script })).not.toThrow();
  });

  it('sends a log of today', () => {
    const [record] = commandsOf(stepsWith());
    const body = argumentsOf(record!.replace('$(cat', '$(echo'))[7]!;
    expect(JSON.parse(body)).toEqual({
      projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
      duration: 1.5,
      description: 'My first log',
      date: '2026-01-31',
    });
  });

  it.each([
    [undefined, 'http://localhost:8080/'],
    ['0.0.0.0', 'http://localhost:8080/'],
    ['::', 'http://localhost:8080/'],
    ['127.0.0.1', 'http://127.0.0.1:8080/'],
    ['time.example', 'http://time.example:8080/'],
    ['::1', 'http://[::1]:8080/'],
  ])('calls a service that listens on %s', (host, expected) => {
    const [, list] = commandsOf(stepsWith({ host, port: 8080 }));
    expect(argumentsOf(list!.replace('$(cat', '$(echo'))).toContain(`${expected}api/v1/time-logs`);
    expect(stepsWith({ host, port: 8080 })).toContain(`\nTry it: ${expected}docs\n`);
  });

  it('names no page where there is none', () => {
    expect(stepsWith({ apiDocs: false })).not.toContain('/docs');
  });
});
