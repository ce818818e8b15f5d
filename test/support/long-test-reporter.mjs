/** Milliseconds after which a test that still runs is named: none is meant to take them. */
const { LONG_TEST = '60000' } = process.env;

/** A Jest reporter that names a test while it hangs: a run that is cut off makes no report. */
export default class LongTestReporter {
  /** When each test that runs has started, by file and name. */
  running = new Map();

  onRunStart() {
    this.timer = setInterval(() => this.tell(), Number(LONG_TEST) / 4);
    this.timer.unref();
  }

  onTestCaseStart({ path }, { fullName, startedAt }) {
    this.running.set(`${path}: ${fullName}`, startedAt);
  }

  onTestCaseResult({ path }, { fullName }) {
    this.running.delete(`${path}: ${fullName}`);
  }

  onRunComplete() {
    clearInterval(this.timer);
  }

  tell() {
    for (const [test, startedAt] of this.running) {
      const lasts = Date.now() - startedAt;
      if (lasts >= Number(LONG_TEST))
        process.stderr.write(`runs since ${Math.round(lasts / 1000)} s: ${test}\n`);
    }
  }
}
