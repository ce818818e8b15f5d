import { describe, expect, it } from '@jest/globals';
import type { LoadName } from './loads.js';
import type { ProgramName } from './program.js';
import { report } from './report.js';
import type { Results, Round } from './results.js';

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
function reportOf(measured: readonly Measured[], spaces: Results['spaces'] = []): string {
  const machine = { cores: 2, memory: 2 ** 33, node: '20.0.0', postgres: '18.4' };
  const facts = {
    date: '2026-01-31',
    machine,
    spread: 'usual',
    seconds: 5,
    starts: [700, 500, 600],
  } as const;
  const measurements = measured.map(([size, load, program, ...rounds]) => ({ size, load, program, rounds }));
  return report({ ...facts, spaces, measurements });
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

  it('shows how each load grows, and takes the worst list for the target', () => {
    const text = reportOf([
      [10_000, 'list-first', 'service', round(100)],
      [10_000, 'list-last', 'service', round(100)],
      [10_000_000, 'list-first', 'service', round(80)],
      [10_000_000, 'list-last', 'service', round(50)],
    ]);
    expect(rows(text, 'list-last')).toContainEqual(['list-last', '2', 'n/a', 'n/a', 'n/a']);
    expect(rows(text, 'list that grows most').map((row) => row.slice(1))).toEqual([
      ['≤ 1.5 ×', '2 ×, list-last', '**missed**'],
    ]);
    expect(rows(text, 'growth from 10k logs to 10m (or all years) of create')).toEqual([]);
  });

  it('holds the list that gains least, and the CPU of one request, against bare', () => {
    const text = reportOf([
      [10_000, 'list-first', 'service', round(300)],
      [10_000, 'list-first', 'bare', round(100)],
      [10_000, 'list-project', 'service', round(125, { cpu: 90 })],
      [10_000, 'list-project', 'bare', round(100, { cpu: 150 })],
    ]);
    expect(rows(text, 'of bare').map((row) => row.slice(1))).toEqual([
      ['≥ 1.6 ×', '1.25 ×', '**missed**'],
      ['≥ 1.4 ×', '1.25 ×, list-project', '**missed**'],
      ['≤ 0.6 ×', '0.6 ×', 'met'],
    ]);
  });

  it.each([
    ['30m', 30_000_000],
    ['100m', 100_000_000],
  ])('holds the growth to %s logs of the service alone', (name, size) => {
    const text = reportOf([
      [10_000, 'list-first', 'service', round(100)],
      [size, 'list-first', 'service', round(80)],
    ]);
    const target = `growth from 10k logs to ${name} of the list that grows most: p50`;
    const expected = [target, '≤ 1.5 ×', '1.25 ×, list-first', 'met'];
    expect(rows(text, 'list that grows most')).toEqual([expected]);
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

  it('sets the other tables against the logs', () => {
    const spaces = [
      { size: 1_000_000, logs: 200e6, others: { time_log_months: 20e6, time_log_decades: 4e6 } },
    ];
    const text = reportOf([], spaces);
    expect(rows(text, '| 1m')).toEqual([['1m', '200', 'time_log_months 20, time_log_decades 4', '12']]);
    expect(rows(text, 'space beside')[0]?.slice(1)).toEqual(['≤ 5 %', '12 %', '**missed**']);
  });
});
