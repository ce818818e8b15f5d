import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { TestEnvironment } from 'jest-environment-node';
import pg from 'pg';

/** Milliseconds that a process may take to end before it is killed. */
const GRACE_MS = 2_000;
/** A session that others may wait for: it is in a transaction, or holds a lock without one. */
const HOLDS = `xact_start is not null
  or exists (select from pg_locks where locktype = 'advisory' and pg_locks.pid = pg_stat_activity.pid)`;

/** Test files that get the compiled modules. Specs get the sources. */
const USES_COMPILED = /[/\\]test[/\\]/;

/** All that this worker has started and not forgotten yet, in that order. */
let processes = [];
subscribe('child_process', ({ process }) => processes.push(process));

/**
 * The environment of a test file. It has a PostgreSQL server to itself: that of its worker. A test that hangs never
 * reaches its `finally`. So if a test or hook fails, its processes and its transactions are ended, and after the file
 * the rest.
 */
export default class extends TestEnvironment {
  hasFailed = false;
  /** How many processes there were before the test. */
  before = 0;

  constructor(config, context) {
    super(config, context);
    // For compiled.mjs, which comes before `setup`.
    this.global.importOnce = (specifier) => import(specifier);
    this.global.serviceGlobal = globalThis;
    this.global.usesCompiled = USES_COMPILED.test(context.testPath);
  }

  async setup() {
    await super.setup();
    const urls = process.env.TEST_DATABASE_URLS?.split(' ') ?? [];
    this.databaseUrl = urls[Number(process.env.JEST_WORKER_ID) - 1];
    this.global.process.env.TEST_DATABASE_URL = this.databaseUrl;
  }

  async handleTestEvent({ name }) {
    if (name === 'test_start') this.before = processes.length;
    if (name === 'test_fn_failure' || name === 'hook_failure') {
      this.hasFailed = true;
      await this.endSessions(HOLDS);
      await endProcesses(processes.splice(this.before));
    }
    if (name === 'run_finish') {
      await endProcesses(processes.splice(0));
      if (this.hasFailed) await this.endSessions('true');
    }
  }

  async endSessions(condition) {
    if (this.databaseUrl === undefined) return;
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    await client.query(
      `select pg_terminate_backend(pid, ${GRACE_MS}) from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid() and (${condition})`,
    );
    await client.end();
  }
}

async function endProcesses(children) {
  const running = children.filter(
    ({ pid, exitCode, signalCode }) => pid && exitCode === null && signalCode === null,
  );
  await Promise.all(
    running.map(async (child) => {
      const ended = once(child, 'exit');
      // It ends PostgreSQL too, despite open connections.
      child.kill('SIGINT');
      const overdue = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await ended;
      clearTimeout(overdue);
    }),
  );
}
