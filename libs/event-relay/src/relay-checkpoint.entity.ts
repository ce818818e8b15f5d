import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The progress of the relay to a sink, and the lease of the instance that publishes. */
@Entity('time_log_relays', { synchronize: false })
export class RelayCheckpoint {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'time_log_relays_pkey' })
  readonly sink!: string;

  /** With `id`, the place in the feed up to which all events are acknowledged. */
  @Column({ type: 'bigint' })
  readonly position!: string;

  @Column({ type: 'uuid' })
  readonly id!: string;

  @Column({ type: 'uuid' })
  readonly holder!: string;

  @Column({ type: 'timestamptz', name: 'leased_until' })
  readonly leasedUntil!: Date;
}
