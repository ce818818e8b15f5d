import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { chart } from './chart.js';
import type { LoadName } from './loads.js';
import { ratio, type Results } from './results.js';

const read = (...names: string[]) => readFile(join(import.meta.dirname, ...names), 'utf8');
const resultsOf = async (file: string) => JSON.parse(await read(file)) as Results;

it('figure.svg is what `npm run bench -- figure` makes of the results', async () => {
  const runs = await Promise.all(['results.json', 'results-alone.json'].map(resultsOf));
  expect(await read('figure.svg')).toBe(chart(runs));
});

it('the numbers of the README are those of the results', async () => {
  const results = await resultsOf('results.json');
  const times = (load: LoadName, size: number) =>
    `${Number(ratio(results, { size, load }, 'idiomatic', 'perSecond')!.toPrecision(3))} × as many`;
  const text = (await read('..', '..', '..', 'README.md')).replaceAll(/\s+/g, ' ');
  expect(text).toContain(
    `it answers ${times('create', 1e4)} creates and ${times('list-project', 1e4)} lists of a project with 10 thousand logs, and ${times('list-last', 1e6)} last pages of a million.`,
  );
});
