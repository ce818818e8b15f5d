import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chart } from './chart.js';
import { report } from './report.js';
import type { Results } from './results.js';

/** What the bench has written with --json, and what it is. The second one may be missing. */
const RUNS = [
  { file: 'results.json', title: 'The service and the baselines' },
  { file: 'results-alone.json', title: 'The service alone' },
];

/** The texts of the files that are made of the results in a folder, by their names. */
export async function published(folder: string): Promise<Record<'figure.svg' | 'RESULTS.md', string>> {
  const runs: { title: string; file: string; results: Results }[] = [];
  for (const { file, title } of RUNS) {
    const text = await readFile(join(folder, file), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || runs.length === 0) throw error;
      return undefined;
    });
    if (text !== undefined) runs.push({ title, file, results: JSON.parse(text) as Results });
  }
  const parts = runs.map(
    ({ title, file, results }) => `## ${title}\n\nThe data: [${file}](${file}).\n\n${report(results)}\n`,
  );
  return {
    'figure.svg': chart(runs.map(({ results }) => results)),
    'RESULTS.md': [
      '# Results\n',
      '`npm run bench -- figure` has written this file. [README.md](README.md) says how to read it.\n',
      ...parts,
    ].join('\n'),
  };
}
