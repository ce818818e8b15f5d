import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How far the relay has got with a sink, and which instance publishes to it until when. */
@Entity('time_log_relays', { synchronize: false })
export class RelayCheckpoint {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'time_log_relays_pkey' })
  readonly sink!: string;

  /** Position and log of the last event before which all are acknowledged. */
  @Column({ type: 'bigint' })
  readonly position!: string;

  @Column({ type: 'uuid' })
  readonly id!: string;

  @Column({ type: 'uuid' })
  readonly holder!: string;

  @Column({ type: 'timestamptz', name: 'leased_until' })
  readonly leasedUntil!: Date;
}
