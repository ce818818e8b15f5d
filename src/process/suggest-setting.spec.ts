import { describe, expect, it } from '@jest/globals';
import { SETTINGS } from './settings.js';
import { suggestSettings } from './suggest-setting.js';

describe('suggestSettings', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL', 'omits a letter'],
    ['DATABASE_URLS', 'DATABASE_URL', 'adds a letter'],
    ['DATABASE_URI', 'DATABASE_URL', 'replaces a letter'],
    ['DATABAES_URL', 'DATABASE_URL', 'swaps two letters'],
    ['_DATABASE_URL', 'DATABASE_URL', 'adds a letter at its start'],
    ['ACESS_TOKEN_FILE', 'ACCESS_TOKEN_FILE', 'omits one of two equal letters'],
    ['DATADIR', 'DATA_DIR', 'omits the underscore'],
    ['LOG_LEVELL', 'LOG_LEVEL', 'repeats a letter'],
  ])('corrects %s to %s: it %s', (name, setting) => {
    expect(suggestSettings([name], SETTINGS)).toEqual([
      `${name} is not a setting and has no effect: did you mean ${setting}?`,
    ]);
  });

  it.each(
    [
      ['POST', 'HOSTS', 'PORTS', 'DATABASE', 'DATABSE_UR', 'TADABASE_URL', 'ABDATASE_URL', 'database_url'],
      ['EVENTS', '', 'PATH'],
    ].flat(),
  )('ignores a name that may mean something else: %s', (name) => {
    expect(suggestSettings([name], SETTINGS)).toEqual([]);
  });

  it('ignores a setting that resembles another one', () => {
    expect(suggestSettings(['MY_SETTING', 'MY_SETTINGS'], ['MY_SETTING', 'MY_SETTINGS'])).toEqual([]);
    expect(suggestSettings(SETTINGS, SETTINGS)).toEqual([]);
  });
});
