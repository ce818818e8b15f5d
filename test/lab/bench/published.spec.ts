import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { published } from './published.js';
import type { LoadName } from './loads.js';
import { type Measurement, ratio, type Results } from './results.js';

const HERE = import.meta.dirname;

it('figure.svg and RESULTS.md are what `npm run bench -- figure` makes of the results', async () => {
  for (const [file, text] of Object.entries(await published(HERE)))
    expect([file, await readFile(join(HERE, file), 'utf8')]).toEqual([file, text]);
});

it('the numbers of the README are those of the results', async () => {
  const results = JSON.parse(await readFile(join(HERE, 'results.json'), 'utf8')) as Results;
  const times = (load: LoadName, size: number) =>
    `${Number(ratio(results, { size, load }, 'idiomatic', 'perSecond')!.toPrecision(3))} × as many`;
  const text = (await readFile(join(HERE, '..', '..', '..', 'README.md'), 'utf8')).replaceAll(/\s+/g, ' ');
  expect(text).toContain(
    `it answers ${times('create', 1e4)} creates and ${times('list-project', 1e4)} lists of a project with 10 thousand logs, and ${times('list-last', 1e6)} last pages of a million.`,
  );
});

describe('the picture', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'time-logs-figure-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function picture(...measured: [Measurement['program'], size: number, p50: number | null][]) {
    const measurements = measured.map(([program, size, p50]) => ({
      ...{ load: 'list-last', program, size, rounds: [{ p50, failures: {}, unfinished: 0 }] },
    }));
    const results = { machine: {}, starts: [600], spaces: [], measurements } as unknown as Results;
    await writeFile(join(folder, 'results.json'), JSON.stringify(results));
    const { 'figure.svg': svg } = await published(folder);
    const names = [
      ...svg.matchAll(/x="([\d.]+)" y="([-\d.]+)" [^>]*>(service|idiomatic|careful|bare) ([^<]*)</g),
    ];
    return {
      svg,
      names: names.map(([, x, y, program, time]) => [program, time, Number(x), Number(y)] as const),
    };
  }

  it('names each line at its end, with the time of the largest size', async () => {
    const { names } = await picture(['service', 10_000, 5], ['service', 1e7, 8.765], ['bare', 1e7, 23_441]);
    expect(names.map(([program, time]) => [program, time])).toEqual([
      ['service', '8.8 ms'],
      ['bare', '23 s'],
    ]);
  });

  it('keeps the names of lines that end together apart', async () => {
    const { names } = await picture(['service', 1e7, 9], ['idiomatic', 1e7, 18_640], ['bare', 1e7, 20_000]);
    const [service, idiomatic, bare] = names.map(([, , , y]) => y);
    expect(idiomatic! - bare!).toBeCloseTo(16);
    expect(service).toBeGreaterThan(idiomatic!);
  });

  it('is described for those who do not see it, and leaves out what was not answered', async () => {
    const { svg } = await picture(['service', 10_000, 5], ['bare', 10_000, 4], ['bare', 1e7, null]);
    expect(svg).toContain('list, last page: service 5 ms at 10k logs; bare 4 ms at 10k logs.');
    expect(svg).not.toContain('NaN');
  });

  it('goes on with the sizes that the service was measured with alone', async () => {
    const alone = { size: 3e7, load: 'list-last', program: 'service', rounds: [{ p50: 9, failures: {} }] };
    const results = { machine: {}, starts: [], spaces: [], measurements: [alone] };
    await writeFile(join(folder, 'results-alone.json'), JSON.stringify(results));
    try {
      const { names } = await picture(['service', 1e7, 8]);
      expect(names.map(([program, time]) => [program, time])).toEqual([['service', '9 ms']]);
    } finally {
      await rm(join(folder, 'results-alone.json'));
    }
  });
});
