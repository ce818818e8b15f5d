import { Logger } from '@nestjs/common';

const CHECK_INTERVAL_MS = 2_000;

interface Settings {
  readonly mode: string;
  readonly standbys: string;
  readonly isStandby: boolean;
  readonly reachesDisk: boolean;
}

type Query = (sql: string) => Promise<Settings[]>;

/** Logs what a commit waits for, at the start and after a change of the server's settings. */
export class Durability {
  private logged: Settings | undefined;
  private nextCheck = 0;

  constructor(
    private readonly level: 'debug' | 'log',
    private readonly logger: Pick<Logger, 'debug' | 'log' | 'warn'> = new Logger('Durability'),
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Starts a check after a commit, if the last one is long enough ago. Returns at once. */
  checkIfDue(query: Query): void {
    if (this.now() < this.nextCheck) return;
    this.nextCheck = Infinity;
    void this.check(query)
      // `Database` logs an outage, and the next commit starts another check.
      .catch(() => undefined)
      .finally(() => (this.nextCheck = this.now() + CHECK_INTERVAL_MS));
  }

  /** Reads the settings, and logs them if they have changed. */
  async check(query: Query): Promise<void> {
    const [settings] = await query(
      `select current_setting('synchronous_commit') as mode, current_setting('synchronous_standby_names') as standbys,
              pg_is_in_recovery() as "isStandby", current_setting('fsync') = 'on' as "reachesDisk"`,
    );
    const previous = this.logged;
    if (previous && isSame(previous, settings!)) return;
    this.logged = settings!;
    this.log(settings!, previous);
  }

  private log(settings: Settings, previous: Settings | undefined): void {
    const { isStandby, reachesDisk, standbys } = settings;
    if (isStandby) this.logger[this.level]('the database is a standby: it takes no changes');
    else if (!reachesDisk)
      this.logger.warn('a commit waits for no disk, since fsync is off: a crash of the database loses logs');
    else if (!previous) this.logger[this.level](`a commit waits for ${describeCommit(settings)}`);
    else if (previous.standbys !== '' && standbys === '')
      this.logger.warn(`a commit now waits for less: ${describeCommit(settings)}`);
    else this.logger[this.level](`a commit now waits for ${describeCommit(settings)}`);
  }
}

/** Compares the settings of the server, not the mode, which may differ between sessions. */
function isSame(one: Settings, other: Settings): boolean {
  const serverSettings = ({ standbys, isStandby, reachesDisk }: Settings) =>
    [standbys, isStandby, reachesDisk].join();
  return serverSettings(one) === serverSettings(other);
}

function describeCommit({ mode, standbys }: Settings): string {
  if (standbys === '') return "the database's own disk, and for no standby: a log may be lost with that disk";
  const stage = mode === 'remote_apply' ? 'replay' : 'disk';
  return `the database's own disk and the ${stage} of synchronous standbys: ${standbys}`;
}
