import { describe, expect, it } from '@jest/globals';
import type { LoadName } from './loads.js';
import type { ProgramName } from './program.js';
import { report } from './report.js';
import type { Round } from './results.js';

function round(perSecond: number, more: Partial<Round> = {}): Round {
  return {
    answered: 100,
    unfinished: 0,
    perSecond,
    p50: 1_000 / perSecond,
    p99: 2_000 / perSecond,
    failures: {},
    driverCpu: 10,
    cpu: 100,
    databaseCpu: undefined,
    memory: 100e6,
    ...more,
  };
}

type Measured = readonly [size: number, load: LoadName, program: ProgramName, ...rounds: Round[]];

/** The report of a run. */
function reportOf(measured: readonly Measured[]): string {
  const machine = { cores: 2, memory: 2 ** 33, node: '20.0.0', postgres: '18.4' };
  const facts = {
    date: '2026-01-31',
    machine,
    seconds: 5,
    starts: [700, 500, 600],
  } as const;
  const measurements = measured.map(([size, load, program, ...rounds]) => ({ size, load, program, rounds }));
  return report({ ...facts, spaces: [], measurements });
}

/** The cells of the rows that hold a text. */
function rows(text: string, holding: string): string[][] {
  const found = text.split('\n').filter((line) => line.startsWith('|') && line.includes(holding));
  return found.map((line) => line.slice(1, -1).split('|')).map((cells) => cells.map((cell) => cell.trim()));
}

describe('the report', () => {
  it('shows the median of the rounds, and the service against each baseline', () => {
    const text = reportOf([
      [10_000, 'create', 'service', round(100), round(400), round(200, { memory: 150e6 })],
      [10_000, 'create', 'idiomatic', round(100)],
      [10_000, 'create', 'bare', round(400)],
    ]);
    expect(rows(text, '| service')).toEqual([
      ['10k', 'create', 'service', '200', '5', '10', '100', 'n/a', '150', '2', 'n/a', '0.5', ''],
    ]);
    expect(rows(text, 'create, 64 connections')).toEqual([
      ['create, 64 connections, 10k logs: throughput of idiomatic', '≥ 4 ×', '2 ×', '**missed**'],
      ['create, 64 connections, 10k logs: throughput of bare', '≥ 2.5 ×', '0.5 ×', '**missed**'],
    ]);
    expect(rows(text, 'start of the service')[0]).toContain('600 ms');
  });

  it('names each fault, and a request that took too long only of the service', () => {
    const slow = round(10, { unfinished: 3, failures: { 'status 503': 2 } });
    const text = reportOf([
      [10_000, 'list-last', 'service', slow, slow],
      [10_000, 'list-last', 'bare', slow],
    ]);
    expect(rows(text, '| service')[0]).toEqual(
      expect.arrayContaining(['≤ 10', '≥ 100', '4 × status 503, 6 × unfinished']),
    );
    expect(rows(text, '| bare')[0]?.at(-1)).toBe('2 × status 503');
  });

  it('lets no target go unnoticed where the service answered nothing', () => {
    const nothing = round(0, { p50: NaN, p99: NaN });
    const text = reportOf([
      [10_000, 'list-last', 'service', round(100)],
      [10_000_000, 'list-last', 'service', nothing],
      [10_000_000, 'list-last', 'bare', round(10)],
    ]);
    const worst = ['≤ 1.5 ×', '∞ ×, list-last', '**missed**'];
    expect(rows(text, 'list that grows most')[0]?.slice(1)).toEqual(worst);
    expect(rows(text, 'throughput of bare')[0]?.slice(1)).toEqual(['≥ 200 ×', '0 ×', '**missed**']);
  });
});
