import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useDatabase } from '../support/storage.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...names: string[]) => readFileSync(join(ROOT, ...names), 'utf8');
const RUNBOOK = read('docker', 'RUNBOOK.md');
const ALERT_RULES = read('docker', 'fleet', 'alerts.yaml').split('- alert: ').slice(1);
const ALERTS = ALERT_RULES.map((rule) => /^\w+/.exec(rule)![0]);
/** The names of its headings in links. */
const PLACES = [...RUNBOOK.matchAll(/^## (.+)$/gm)].map(([, title]) =>
  title!.toLowerCase().replaceAll(' ', '-'),
);

/** The statements that only look. */
const LOOKS = [...RUNBOOK.matchAll(/sql "(select (?!pg_|move_)[^"]+)"/g)].map(([, statement]) => statement!);

describe('the runbook', () => {
  const database = useDatabase();

  it.each(ALERTS)('has a place for the alert %s', (alert) => {
    expect(RUNBOOK).toContain(`\`${alert}\``);
  });

  it('has the place that each alert leads to', () => {
    const places = ALERT_RULES.map((rule) => /runbook: docker\/RUNBOOK\.md#(\S+)/.exec(rule)?.[1]);
    expect(places.filter((place) => place === undefined || !PLACES.includes(place))).toEqual([]);
  });

  it.each(LOOKS)('has a statement that runs: %s', async (statement) => {
    await expect(database.dataSource.query(statement)).resolves.toBeDefined();
  });
});
