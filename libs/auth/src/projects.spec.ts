import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { soundProjects } from './projects.js';

const uuid = (number: number) => `00000000-0000-0000-0000-${number.toString(16).padStart(12, '0')}`;
const uuids = (count: number) => Array.from({ length: count }, (_, index) => uuid(index));

describe('soundProjects', () => {
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
    ['none', [], []],
    ['one of any version and variant', [uuid(0)], [uuid(0)]],
    ['lower case', ['ABCDEFAB-CDEF-4ABC-8DEF-ABCDEFABCDEF'], ['abcdefab-cdef-4abc-8def-abcdefabcdef']],
    ['none twice, whatever its case', [uuid(10), uuid(11), uuid(10).toUpperCase()], [uuid(10), uuid(11)]],
    ['100 of them', uuids(100), uuids(100)],
    ['100 of them, each given twice', [...uuids(100), ...uuids(100)], uuids(100)],
  ])('gives %s', (_what, given, projects) => {
    expect(soundProjects(given, 'the set')).toEqual(projects);
    expect(lines).toEqual([]);
  });

  it.each([
    [undefined, 'is missing'],
    [null, 'is no array of UUIDs'],
    [uuid(1), 'is no array of UUIDs'],
    [{ 0: uuid(1), length: 1 }, 'is no array of UUIDs'],
    [new Set([uuid(1)]), 'is no array of UUIDs'],
    [['*'], 'holds something other than a UUID'],
    [[uuid(1), 'secret'], 'holds something other than a UUID'],
    [[uuid(1), `${uuid(2)}\n`], 'holds something other than a UUID'],
    [[uuid(1), [uuid(2)]], 'holds something other than a UUID'],
    [[uuid(1), undefined], 'holds something other than a UUID'],
    [[uuid(1).replaceAll('-', '')], 'holds something other than a UUID'],
    [[`{${uuid(1)}}`], 'holds something other than a UUID'],
    [uuids(101), 'holds more than 100 projects'],
  ])('makes an empty set of anything else, and says why: %#', (given, reason) => {
    expect(soundProjects(given, 'the set')).toEqual([]);
    expect(lines).toEqual([['debug', `a caller is bound to no project: the set ${reason}`]]);
  });

  it('keeps nothing of what its giver may still change', () => {
    const given = [uuid(1)];
    const projects = soundProjects(given, 'the set');
    given.push(uuid(2));
    expect(projects).toEqual([uuid(1)]);
  });
});
