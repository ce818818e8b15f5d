import { TimeLog } from 'time-logs/time-log';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';

/** Somebody approved a log. A log may be approved by several people. */
@Entity('approvals')
export class Approval {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'uuid', name: 'log_id' })
  logId!: string;

  @ManyToOne(() => TimeLog)
  @JoinColumn({ name: 'log_id' })
  log?: TimeLog;

  @Column({ type: 'text', name: 'approved_by' })
  approvedBy!: string;
}
