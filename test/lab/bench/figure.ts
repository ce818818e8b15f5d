import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chart } from './chart.js';
import { report } from './report.js';
import type { Results } from './results.js';

// Usage: npm run bench -- figure. Draws the picture of the results that are in this folder, and prints their tables.

const FOLDER = join('test', 'lab', 'bench');

const runs = await Promise.all(
  ['results.json', 'results-alone.json'].map(async (file) => {
    return JSON.parse(await readFile(join(FOLDER, file), 'utf8')) as Results;
  }),
);
await writeFile(join(FOLDER, 'figure.svg'), chart(runs));
for (const results of runs) console.log(report(results));
