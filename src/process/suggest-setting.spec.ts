import { expect, it } from '@jest/globals';
import { SETTINGS } from './settings.js';
import { suggestSettings } from './suggest-setting.js';

it.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URLS', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABAES_URL', 'DATABASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['PROT', 'PORT'],
])('corrects %s to %s', (name, setting) => {
  expect(suggestSettings([name], SETTINGS)).toEqual([
    `${name} is not a setting and has no effect: did you mean ${setting}?`,
  ]);
});

it.each([
  'POST',
  'PORTS',
  'DATABASE',
  'DATABSE_UR',
  'ABDATASE_URL',
  'database_url',
  'EVENTS',
  '',
  ...SETTINGS,
])('ignores a name that may mean something else: %s', (name) => {
  expect(suggestSettings([name], SETTINGS)).toEqual([]);
});
