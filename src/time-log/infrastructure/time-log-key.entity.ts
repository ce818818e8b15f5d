import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * How long a key is kept, in SQL. After the clock of the database went back it is kept for longer by as much: to forget
 * it early could make two logs of one create.
 */
export const KEY_LIFETIME = `interval '24 hours'`;

/** An idempotency key, and the log that it made. */
@Entity('time_log_keys', { synchronize: false })
@Index('time_log_keys_created_at_idx', ['createdAt'])
export class TimeLogKey {
  @PrimaryColumn({ type: 'text', name: 'principal', primaryKeyConstraintName: 'time_log_keys_pkey' })
  readonly caller!: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'time_log_keys_pkey' })
  readonly text!: string;

  /** SHA-256 of the values of the log, 32 bytes. */
  @Column({ type: 'bytea' })
  readonly fingerprint!: Buffer;

  @Column({ type: 'uuid', name: 'time_log_id' })
  readonly timeLogId!: string;

  @Column({ type: 'timestamptz', precision: 3, name: 'created_at', default: () => 'now()' })
  readonly createdAt!: Date;
}
