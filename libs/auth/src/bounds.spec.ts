import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { parseProjectBinding } from './bounds.js';

const uuid = (number: number) => `00000000-0000-0000-0000-${number.toString(16).padStart(12, '0')}`;
const uuids = (count: number) => Array.from({ length: count }, (_, index) => uuid(index));

describe('parseProjectBinding', () => {
  let lines: unknown[];

  beforeEach(() => {
    lines = [];
    const at = (level: string) => (message: unknown) => lines.push([level, message]);
    Logger.overrideLogger({ debug: at('debug'), log: at('log'), warn: at('warn'), error: at('error') });
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });

  it.each([
    ['no project', [], []],
    ['duplicates in any case', [uuid(10), uuid(11), uuid(10).toUpperCase()], [uuid(10), uuid(11)]],
    ['100 projects, each twice', [...uuids(100), ...uuids(100)], uuids(100)],
  ])('accepts %s', (_kind, value, projects) => {
    expect(parseProjectBinding(value, 'the set')).toEqual(projects);
    expect(lines).toEqual([]);
  });

  it.each([
    [undefined, 'is missing'],
    [null, 'is not an array of UUIDs'],
    [uuid(1), 'is not an array of UUIDs'],
    [[uuid(1), 'secret'], 'contains a value that is not a UUID'],
    [[uuid(1), `${uuid(2)}\n`], 'contains a value that is not a UUID'],
    [[uuid(1), undefined], 'contains a value that is not a UUID'],
    [[uuid(1).replaceAll('-', '')], 'contains a value that is not a UUID'],
    [uuids(101), 'contains more than 100 projects'],
  ])('returns an empty set for any other value and logs the reason: %#', (value, reason) => {
    expect(parseProjectBinding(value, 'the set')).toEqual([]);
    expect(lines).toEqual([['debug', `a caller is bound to no project: the set ${reason}`]]);
  });
});
