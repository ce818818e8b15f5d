import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type {
  BatchedTimeLogHooks,
  TimeLogChange,
  TimeLogValues,
  WrittenTimeLogChange,
} from 'time-logs/time-log';
import { type EntityManager, Repository } from 'typeorm';
import { Project } from '../projects/project.entity';
import type { OurAttributes } from './attributes';
import { AuditEntry } from './audit-entry.entity';

/** Logs are of open projects and tell who has entered them, and each change leaves a trace, or is not made. */
@Injectable()
export class ProjectHooks implements BatchedTimeLogHooks<OurAttributes> {
  /** Creates that come at once share a transaction. */
  readonly batched = true;

  constructor(@InjectRepository(Project) private readonly projects: Repository<Project>) {}

  async before(
    { kind, values, caller }: TimeLogChange<OurAttributes>,
    manager: EntityManager = this.projects.manager,
  ): Promise<TimeLogValues<OurAttributes> | undefined> {
    if (values === undefined) return undefined;
    const project = await manager.findOneBy(Project, { id: values.projectId });
    if (project === null) throw new NotFoundException('there is no such project');
    if (project.isClosed) throw new ConflictException(`the project ${project.name} is closed`);
    // It keeps the attributes that are stored.
    if (kind === 'correct' && !values.attributes) return undefined;
    return { ...values, attributes: { billable: true, ...values.attributes, enteredBy: caller?.id } };
  }

  async within(changes: readonly WrittenTimeLogChange[], manager: EntityManager): Promise<void> {
    const entries = changes.map(({ kind, log: { id: logId, projectId }, previous = null, caller }) => {
      return { kind, logId, projectId, previous, userName: caller?.id ?? null };
    });
    await manager.insert(AuditEntry, entries);
  }
}
