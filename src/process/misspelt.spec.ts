import { describe, expect, it } from '@jest/globals';
import { SETTINGS } from './config.js';
import { misspelt } from './misspelt.js';

describe('a name that is no setting', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL', 'lacks a letter'],
    ['DATABASE_URLS', 'DATABASE_URL', 'has one too many'],
    ['DATABASE_URI', 'DATABASE_URL', 'has another letter'],
    ['DATABAES_URL', 'DATABASE_URL', 'has two that changed places'],
    ['_DATABASE_URL', 'DATABASE_URL', 'has one too many at its start'],
    ['ACESS_TOKEN_FILE', 'ACCESS_TOKEN_FILE', 'lacks one of two alike'],
    ['DATADIR', 'DATA_DIR', 'lacks the line between'],
    ['LOG_LEVELL', 'LOG_LEVEL', 'has a letter twice'],
  ])('is told where it looks like one: %s for %s, which %s', (name, meant) => {
    expect(misspelt([name], SETTINGS)).toEqual([`${name} is no setting and has no effect: ${meant} is one`]);
  });

  it.each(
    [
      ['POST', 'HOSTS', 'PORTS', 'DATABASE', 'DATABSE_UR', 'TADABASE_URL', 'ABDATASE_URL', 'database_url'],
      ['EVENTS', '', 'PATH'],
    ].flat(),
  )('is not told where it may well be another: %s', (name) => {
    expect(misspelt([name], SETTINGS)).toEqual([]);
  });

  it('is not told where it is a setting, though it looks like another one', () => {
    expect(misspelt(['MY_SETTING', 'MY_SETTINGS'], ['MY_SETTING', 'MY_SETTINGS'])).toEqual([]);
    expect(misspelt(SETTINGS, SETTINGS)).toEqual([]);
  });
});
