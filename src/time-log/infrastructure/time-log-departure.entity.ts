import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A log that has left a project, for readers of that project. Triggers write it. */
@Entity('time_log_departures', { synchronize: false })
export class TimeLogDeparture {
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
