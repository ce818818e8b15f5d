import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { type StoredTimeLog, TimeLog } from '../domain/time-log.js';
import './time-log.mapping.js';

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

/** A log that has left a project, for readers of that project. Triggers write it. */
@Entity('time_log_departures', { synchronize: false })
class TimeLogDeparture {
  /** The position of the departure in the feed, a decimal number. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'time_log_departures_pkey' })
  readonly position!: string;

  /** The id of the log. */
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'time_log_departures_pkey' })
  readonly id!: string;

  /** The project that it has left. */
  @PrimaryColumn({ type: 'uuid', name: 'project_id', primaryKeyConstraintName: 'time_log_departures_pkey' })
  readonly projectId!: string;

  @Column({ type: 'timestamptz', precision: 3, name: 'left_at' })
  readonly leftAt!: Date;
}

/** A deletion for the feed. Triggers write it. */
@Entity('time_log_deletions', { synchronize: false })
@Index('time_log_deletions_mark_idx', ['position', 'id'], { where: 'project_id IS NULL' })
export class TimeLogDeletion {
  /** The position of the deletion in the feed, a decimal number. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'time_log_deletions_pkey' })
  readonly position!: string;

  /** The id of the deleted log. */
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'time_log_deletions_pkey' })
  readonly id!: string;

  /** The last project of the log; null in the row of the mark, up to which deletions may be unknown. */
  @Column({ type: 'uuid', name: 'project_id', nullable: true })
  readonly projectId!: string | null;

  @Column({ type: 'timestamptz', precision: 3, name: 'deleted_at' })
  readonly deletedAt!: Date;
}

/** The entities of our tables, by the names in our SQL. */
export const ENTITIES_BY_TABLE = {
  time_logs: TimeLog,
  time_log_keys: TimeLogKey,
  time_log_deletions: TimeLogDeletion,
  time_log_departures: TimeLogDeparture,
};

/** The entities that a DataSource needs to store time logs. */
export const timeLogEntities = Object.values(ENTITIES_BY_TABLE);
