import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';

interface Settings {
  readonly mode: string;
  readonly standbys: string;
  readonly isStandby: boolean;
  readonly reachesDisk: boolean;
}

/** Says in one line what a commit waits for, as the server's settings have it for our role. Warns of none at all. */
export async function tellDurability(
  dataSource: DataSource,
  level: 'debug' | 'log',
  logger: Pick<Logger, 'debug' | 'log' | 'warn'> = new Logger('Durability'),
): Promise<void> {
  const [settings] = await dataSource.query<Settings[]>(
    `select current_setting('synchronous_commit') as mode, current_setting('synchronous_standby_names') as standbys,
            pg_is_in_recovery() as "isStandby", current_setting('fsync') = 'on' as "reachesDisk"`,
  );
  const { isStandby, reachesDisk } = settings!;
  if (isStandby) logger[level]('the database is a standby: it takes no changes');
  else if (reachesDisk) logger[level](`a commit waits for ${awaited(settings!)}`);
  else logger.warn('a commit waits for no disk, since fsync is off: a crash of the database loses logs');
}

function awaited({ mode, standbys }: Settings): string {
  if (standbys === '') return "the database's own disk, and for no standby: a log may be lost with that disk";
  const stage = mode === 'remote_apply' ? 'replay' : 'disk';
  return `the database's own disk and the ${stage} of synchronous standbys: ${standbys}`;
}
