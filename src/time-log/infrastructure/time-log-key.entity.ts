import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { StoredTimeLog } from '../domain/time-log.js';

/**
 * Returns the lifetime of keys as an interval in SQL. It grows if the clock of the database is set back: a key that
 * is removed early could store a create twice.
 */
export function lifetimeInterval(hours: number): string {
  return `interval '${hours} hours'`;
}

/** An idempotency key, and the log or the batch that it recorded. */
@Entity('time_log_keys', { synchronize: false })
@Index('time_log_keys_created_at_idx', ['createdAt'])
export class TimeLogKey {
  @PrimaryColumn({ type: 'text', name: 'principal', primaryKeyConstraintName: 'time_log_keys_pkey' })
  readonly caller!: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'time_log_keys_pkey' })
  readonly text!: string;

  /** The SHA-256 hash of the values of the log or of the batch, 32 bytes. */
  @Column({ type: 'bytea' })
  readonly fingerprint!: Buffer;

  @Column({ type: 'timestamptz', precision: 3, name: 'created_at', default: () => 'now()' })
  readonly createdAt!: Date;

  /**
   * The logs as they were answered, in order. The id alone stands for a log that version 0.3 recorded with the values
   * that were sent. Not jsonb, which reorders attributes.
   */
  @Column({ type: 'json' })
  readonly logs!: readonly (StoredTimeLog | string)[];
}
