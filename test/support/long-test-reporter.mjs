/** Milliseconds after which a test that still runs is named. */
const { LONG_TEST = '60000' } = process.env;

/** A Jest reporter that names a test while it lasts long: a run that is cut off makes no report. */
export default class LongTestReporter {
  /** The tests that run, by file and name: since when, and after how long each is named next. */
  running = new Map();

  onRunStart() {
    this.timer = setInterval(() => this.tell(), Number(LONG_TEST) / 4);
    this.timer.unref();
  }

  onTestCaseStart({ path }, { fullName, startedAt }) {
    this.running.set(`${path}: ${fullName}`, { startedAt, next: Number(LONG_TEST) });
  }

  onTestCaseResult({ path }, { fullName }) {
    this.running.delete(`${path}: ${fullName}`);
  }

  /** Also where its process has ended within a test. */
  onTestResult({ path }) {
    for (const test of this.running.keys()) if (test.startsWith(`${path}: `)) this.running.delete(test);
  }

  onRunComplete() {
    clearInterval(this.timer);
  }

  tell() {
    for (const [test, state] of this.running) {
      const lasts = Date.now() - state.startedAt;
      if (lasts < state.next) continue;
      state.next *= 2;
      process.stderr.write(`runs since ${Math.round(lasts / 1000)} s: ${test}\n`);
    }
  }
}
