import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { TimeLogValues } from '../domain/time-log.js';

/**
 * Returns the lifetime of keys as an interval in SQL. It grows if the clock of the database is set back: a key that
 * is removed early could store a create twice.
 */
export function lifetimeInterval(hours: number): string {
  return `interval '${hours} hours'`;
}

/** An idempotency key, and the log or the batch that it created. */
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

  @Column({ type: 'uuid', name: 'time_log_id' })
  readonly timeLogId!: string;

  /** All logs of a batch, in order; null for a single log. */
  @Column({ type: 'uuid', array: true, name: 'time_log_ids', nullable: true })
  readonly timeLogIds!: string[] | null;

  /** Its logs, in order, if they differ from what was sent. Not jsonb, which reorders attributes. */
  @Column({ type: 'json', nullable: true })
  readonly replaced!: readonly TimeLogValues[] | null;

  @Column({ type: 'timestamptz', precision: 3, name: 'created_at', default: () => 'now()' })
  readonly createdAt!: Date;
}
