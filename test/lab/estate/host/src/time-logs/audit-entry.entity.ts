import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A change of a log by a member of the staff. */
@Entity('audit_entries')
export class AuditEntry {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('text')
  kind!: string;

  @Column({ type: 'uuid', name: 'log_id' })
  logId!: string;

  @Column({ type: 'uuid', name: 'project_id' })
  projectId!: string;

  @Column({ type: 'text', name: 'user_name', nullable: true })
  userName!: string | null;

  /** The log before a correction or deletion. */
  @Column({ type: 'jsonb', nullable: true })
  previous!: object | null;
}
