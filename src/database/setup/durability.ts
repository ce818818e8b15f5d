import { Logger } from '@nestjs/common';

/** Milliseconds between two looks. */
const PAUSE = 2_000;

interface Settings {
  readonly mode: string;
  readonly standbys: string;
  readonly isStandby: boolean;
  readonly reachesDisk: boolean;
}

type Query = (sql: string) => Promise<Settings[]>;

/** Says in one line what a commit waits for: at the start, and when the server's settings have changed it. */
export class Durability {
  private told: Settings | undefined;
  private next = 0;

  constructor(
    private readonly level: 'debug' | 'log',
    private readonly logger: Pick<Logger, 'debug' | 'log' | 'warn'> = new Logger('Durability'),
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Looks again after a commit, if the last look is long enough ago. Returns at once. Without commits nobody looks. */
  lookAgain(query: Query): void {
    if (this.now() < this.next) return;
    this.next = Infinity;
    void this.look(query)
      // An outage is told elsewhere, and the next commit looks again.
      .catch(() => undefined)
      .finally(() => (this.next = this.now() + PAUSE));
  }

  /** Tells what it sees, unless it has told that already. */
  async look(query: Query): Promise<void> {
    const [settings] = await query(
      `select current_setting('synchronous_commit') as mode, current_setting('synchronous_standby_names') as standbys,
              pg_is_in_recovery() as "isStandby", current_setting('fsync') = 'on' as "reachesDisk"`,
    );
    const before = this.told;
    if (before && isSame(before, settings!)) return;
    this.told = settings!;
    this.tell(settings!, before);
  }

  private tell(settings: Settings, before: Settings | undefined): void {
    const { isStandby, reachesDisk, standbys } = settings;
    if (isStandby) this.logger[this.level]('the database is a standby: it takes no changes');
    else if (!reachesDisk)
      this.logger.warn('a commit waits for no disk, since fsync is off: a crash of the database loses logs');
    else if (!before) this.logger[this.level](`a commit waits for ${awaited(settings)}`);
    else if (before.standbys !== '' && standbys === '')
      this.logger.warn(`a commit now waits for less: ${awaited(settings)}`);
    else this.logger[this.level](`a commit now waits for ${awaited(settings)}`);
  }
}

/** All sessions of a server have these alike. The mode may be one of a role, which only new sessions have. */
function isSame(one: Settings, other: Settings): boolean {
  const facts = ({ standbys, isStandby, reachesDisk }: Settings) => [standbys, isStandby, reachesDisk].join();
  return facts(one) === facts(other);
}

function awaited({ mode, standbys }: Settings): string {
  if (standbys === '') return "the database's own disk, and for no standby: a log may be lost with that disk";
  const stage = mode === 'remote_apply' ? 'replay' : 'disk';
  return `the database's own disk and the ${stage} of synchronous standbys: ${standbys}`;
}
