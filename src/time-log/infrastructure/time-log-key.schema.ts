import { EntitySchema } from 'typeorm';

/** An idempotency key, good for 24 hours, beside the log that it made. */
export class TimeLogKey {
  readonly principal!: string;
  readonly text!: string;
  /** SHA-256 of the values of the log, 32 bytes. */
  readonly fingerprint!: Buffer;
  readonly timeLogId!: string;
  readonly createdAt!: Date;
}

/** Maps the table `time_log_keys`. The migration makes the table; a test holds the two equal. */
export const TimeLogKeySchema = new EntitySchema<TimeLogKey>({
  name: 'TimeLogKey',
  target: TimeLogKey,
  tableName: 'time_log_keys',
  columns: {
    principal: { type: 'text', primary: true, primaryKeyConstraintName: 'time_log_keys_pkey' },
    text: { type: 'text', primary: true, primaryKeyConstraintName: 'time_log_keys_pkey' },
    fingerprint: { type: 'bytea' },
    timeLogId: { type: 'uuid', name: 'time_log_id' },
    createdAt: { type: 'timestamptz', precision: 3, name: 'created_at', default: () => 'now()' },
  },
  indices: [{ name: 'time_log_keys_created_at_idx', columns: ['createdAt'] }],
});
