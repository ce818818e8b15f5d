import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

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
