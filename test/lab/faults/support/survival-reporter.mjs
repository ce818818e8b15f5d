import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILE = /\.faults\.ts$/;

/**
 * A Jest reporter whose line, the last of a run, says which faults were survived, from what the tests themselves
 * counted.
 */
export default class SurvivalReporter {
  onRunStart() {
    this.directory = mkdtempSync(join(tmpdir(), 'faults-tally-'));
    // Inherited by the processes that run the tests.
    process.env.FAULTS_TALLY = join(this.directory, 'counts');
    writeFileSync(process.env.FAULTS_TALLY, '');
  }

  onRunComplete(_contexts, { testResults }) {
    const lines = readFileSync(process.env.FAULTS_TALLY, 'utf8').trim().split('\n');
    rmSync(this.directory, { recursive: true });
    const faults = testResults.filter(({ testFilePath }) => FILE.test(testFilePath));
    const survived = faults.reduce((sum, { numPassingTests }) => sum + numPassingTests, 0);
    const failed = faults.reduce((sum, { numFailingTests }) => sum + numFailingTests, 0);
    if (survived + failed === 0) return;
    const all = lines.filter(Boolean).map((line) => JSON.parse(line));
    const sum = (name) => all.reduce((total, counts) => total + (counts[name] ?? 0), 0).toLocaleString('en');
    const slowest = Math.max(0, ...all.map((counts) => counts.slowest ?? 0)).toLocaleString('en');
    const line =
      `survived: ${survived} of ${survived + failed} faults, ${sum('kills')} kills of the service ` +
      `(${sum('killsInFlight')} with a create in flight), ${sum('acknowledged')} acknowledged, ` +
      `${sum('lost')} lost, ${sum('doubled')} doubled, ${sum('refused')} answered 503, ${sum('cut')} cut off ` +
      `(${sum('storedUnanswered')} of both stored, none twice), ${sum('unexpected')} other answers, ` +
      `the slowest answer after ${slowest} ms` +
      // Where events were looked for at all.
      (sum('events') === '0'
        ? ''
        : `; ${sum('events')} logs with their events, ${sum('repeats')} events twice`);
    // After all that Jest itself has to say.
    process.once('exit', () => console.log(line));
  }
}
