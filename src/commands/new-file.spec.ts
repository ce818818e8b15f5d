import { readdir, readFile, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { expect, it } from '@jest/globals';
import { useFolder } from '../../test/support/fixtures.js';
import { createFile } from './new-file.js';

const inFolder = useFolder('time-logs-new-file-');

it('a new file replaces none that was made meanwhile', async () => {
  const file = inFolder('backup');
  const created = createFile(file, async (content) => {
    await pipeline(['ours'], content);
    await writeFile(file, 'theirs');
  });
  await expect(created).rejects.toThrow(`${file} exists already: give the backup another name`);
  expect(await readdir(inFolder())).toEqual(['backup']);
  expect(await readFile(file, 'utf8')).toBe('theirs');
});
