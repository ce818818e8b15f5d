import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { addOddRows, withSql } from '../support/backup-rows.js';
import { backup, checkBackup } from '../../src/backup/index.js';
import { entities, migrations } from '../../src/app.module.js';
import { unreachedTimeLogPosition } from '../../src/feed/index.js';
import { isFull } from '../support/extent.js';
import { useFolder, useTestDatabase } from '../support/fixtures.js';

const report = () => undefined;
/** Bytes from one that is damaged to the next: in the short pass as many as meet each bit and each part of the file. */
const STRIDE = isFull ? 1 : 7;

/** Restoring checks the whole file before it touches a database: what it refuses, without the process around it. */
describe('a file that is restored', () => {
  const database = useTestDatabase();
  const inFolder = useFolder('time-logs-backup-file-');
  let file: string;
  let sound: Buffer;
  /** The content of the sound file, and its lines. */
  let text: string;
  let lines: string[];

  beforeAll(async () => {
    file = inFolder('file');
    await withSql(database.url, addOddRows);
    const target = createWriteStream(file);
    await backup({
      url: database.url,
      entities,
      migrations,
      backupMetadata: unreachedTimeLogPosition,
      target,
      report,
    });
    sound = await readFile(file);
    text = gunzipSync(sound).toString();
    lines = text.trimEnd().split('\n');
  });

  /** Writes bytes to the file, and checks them. */
  const check = async (bytes: Uint8Array) => {
    await writeFile(file, bytes);
    await checkBackup({ file, migrations, report });
  };
  const zippedLines = (some: readonly string[]) => gzipSync(`${some.join('\n')}\n`);

  it('is taken where it is sound', async () => {
    await expect(check(sound)).resolves.toBeUndefined();
  });

  it.each<[string, () => Buffer, RegExp]>([
    ['an empty file', () => Buffer.alloc(0), /is not a backup/],
    ['text', () => Buffer.from(text), /is not a backup/],
    ['another gzip', () => gzipSync('hello\n'), /is not a backup/],
    ['gzip without lines', () => gzipSync(Buffer.alloc(20_000_000)), /is not a backup/],
    ['a truncated file', () => sound.subarray(0, sound.length / 2), /is damaged/],
    ['a file without its last byte', () => sound.subarray(0, -1), /is damaged/],
    ['zeros behind it', () => Buffer.concat([sound, Buffer.alloc(9)]), /there is data after its end/],
    ['text behind it', () => Buffer.concat([sound, Buffer.from('garbage')]), /is damaged/],
    ['the file twice', () => Buffer.concat([sound, sound]), /there is data after its end/],
    ['no trailer', () => zippedLines(lines.slice(0, -1)), /last line is missing/],
    ['half a trailer', () => gzipSync(text.slice(0, -9)), /is damaged/],
    ['half a table', () => zippedLines(lines.slice(0, 6)), /last line is missing/],
    [
      'a row less',
      () => gzipSync(text.replace(/^.*\t2024-02-29\t.*\n/m, '')),
      /does not match the number of its rows/,
    ],
    ['a table less', () => zippedLines(lines.toSpliced(1, 2)), /does not match/],
    ['a later format', () => gzipSync(text.replace('"version":3', '"version":4')), /is not a backup/],
    [
      'a file of version 0.2',
      () =>
        zippedLines([
          '{"format":"time-logs-backup","version":2,"migrations":["AddTimeLogAttributes1764892800000"]}',
        ]),
      /was made by version 0[.]1 or 0[.]2: restore it with version 0[.]3, and make a backup with that$/,
    ],
    [
      'a file of a newer version',
      () => gzipSync(text.replace('CreateTimeLogs', 'MakeTimeLogs')),
      /was made by a newer version, with the migrations MakeTimeLogs\d+: restore it with that version$/,
    ],
  ])('is refused in one line where it is %s', async (_what, damaged, reason) => {
    const message = await check(damaged()).catch((error: unknown) => (error as Error).message);
    expect(message).toMatch(reason);
    expect(message).toMatch(new RegExp(`^${file}: [^\\n]*$`));
  });

  it('is refused where a bit of any byte is flipped', async () => {
    for (let offset = 0; offset < sound.length; offset += STRIDE) {
      const flipped = sound.with(offset, sound[offset]! ^ (1 << (offset % 8)));
      // A few bits mean nothing, or point to the same letters elsewhere: nothing is damaged.
      if (holds(flipped, text)) continue;
      await expect(check(flipped)).rejects.toThrow(/is damaged|is not a backup/);
    }
  });
});

function holds(file: Uint8Array, text: string): boolean {
  try {
    return gunzipSync(file).toString() === text;
  } catch {
    return false;
  }
}
