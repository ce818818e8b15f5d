import { Logger } from '@nestjs/common';
import { inBackground } from '../../libs/batching/src/index.js';

const CHECK_INTERVAL_MS = 2_000;

interface Settings {
  readonly mode: string;
  readonly standbys: string;
  readonly isStandby: boolean;
  readonly reachesDisk: boolean;
}

/** Logs what a commit waits for, at the start and after a change of the server's settings. */
export class Durability {
  private logged: Settings | undefined;
  private nextCheck = 0;

  constructor(
    private readonly database: { query<Row>(sql: string): Promise<Row[]> },
    private readonly level: 'debug' | 'log',
    private readonly logger: Pick<Logger, 'debug' | 'log' | 'warn'> = new Logger('Durability'),
  ) {}

  /** Starts a check after a commit, if the last one is long enough ago. Returns at once. */
  readonly checkIfDue = (): void => {
    const now = performance.now();
    if (now < this.nextCheck) return;
    this.nextCheck = now + CHECK_INTERVAL_MS;
    // `Database` logs an outage, and a later commit starts another check.
    inBackground(() => this.check()).catch(() => undefined);
  };

  /** Reads the settings, and logs them if those of the server have changed. */
  async check(): Promise<void> {
    const [settings] = await this.database.query<Settings>(
      `select current_setting('synchronous_commit') as mode, current_setting('synchronous_standby_names') as standbys,
              pg_is_in_recovery() as "isStandby", current_setting('fsync') = 'on' as "reachesDisk"`,
    );
    const previous = this.logged;
    this.logged = settings!;
    // The mode may differ between sessions.
    const { standbys, isStandby, reachesDisk } = settings!;
    if (
      previous?.standbys === standbys &&
      previous.isStandby === isStandby &&
      previous.reachesDisk === reachesDisk
    )
      return;
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

function describeCommit({ mode, standbys }: Settings): string {
  if (standbys === '') return "the database's own disk, and for no standby: a log may be lost with that disk";
  const stage = mode === 'remote_apply' ? 'replay' : 'disk';
  return `the database's own disk and the ${stage} of synchronous standbys: ${standbys}`;
}
