import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { chart } from './chart.js';
import type { LoadName } from './loads.js';
import type { ProgramName } from './program.js';
import { ratio, type Results } from './results.js';

const read = (...names: string[]) => readFile(join(import.meta.dirname, ...names), 'utf8');
const resultsOf = async (file: string) => JSON.parse(await read(file)) as Results;

it('figure.svg is what `npm run bench -- figure` makes of the results', async () => {
  const runs = await Promise.all(['results.json', 'results-alone.json'].map(resultsOf));
  expect(await read('figure.svg')).toBe(chart(runs));
});

it('the numbers of the README are those of the results', async () => {
  const results = await resultsOf('results.json');
  const times = (baseline: ProgramName) => {
    const loads: [LoadName, number][] = [
      ['create', 1e4],
      ['list-project', 1e4],
      ['list-last', 1e6],
    ];
    return loads.map(([load, size]) =>
      Number(ratio(results, { size, load }, baseline, 'perSecond')!.toPrecision(3)),
    );
  };
  const [creates, lists, lastPages] = times('idiomatic');
  const [first, second, third] = times('careful');
  const text = (await read('..', '..', '..', 'README.md')).replaceAll(/\s+/g, ' ');
  expect(text).toContain(
    `answered ${creates} × as many creates and ${lists} × as many lists of a project with 10 thousand logs, and ${lastPages} × as many last pages of a million, as a [plain`,
  );
  expect(text).toContain(`; ${first}, ${second} and ${third} × as many as hand-written Fastify and SQL.`);
});
