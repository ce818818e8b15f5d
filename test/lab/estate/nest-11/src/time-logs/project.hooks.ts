import { Injectable } from '@nestjs/common';
import type {
  BatchedTimeLogHooks,
  TimeLogChange,
  TimeLogValues,
  WrittenTimeLogChange,
} from 'time-logs/time-log';
import type { EntityManager } from 'typeorm';
import { ProjectsService } from '../projects/projects.service';
import type { OurAttributes } from './attributes';
import { AuditEntry } from './audit-entry.entity';

/** Logs are of open projects and tell who has entered them, and each change leaves a trace, or is not made. */
@Injectable()
export class ProjectHooks implements BatchedTimeLogHooks<OurAttributes> {
  /** Creates that come at once share a transaction. */
  readonly batched = true;

  constructor(private readonly projects: ProjectsService) {}

  before({ kind, values, caller }: TimeLogChange<OurAttributes>): TimeLogValues<OurAttributes> | undefined {
    // A correction without attributes keeps those that are stored.
    if (values === undefined || (kind === 'correct' && !values.attributes)) return undefined;
    return { ...values, attributes: { billable: true, ...values.attributes, enteredBy: caller?.id } };
  }

  async within(changes: readonly WrittenTimeLogChange[], manager: EntityManager): Promise<void> {
    // Both projects of a moved log, and that of a deleted one.
    const projectIds = changes.flatMap(({ log, previous = log }) => [log.projectId, previous.projectId]);
    await this.projects.requireOpen(projectIds, manager);
    const entries = changes.map(({ kind, log: { id: logId, projectId }, previous = null, caller }) => {
      return { kind, logId, projectId, previous, userName: caller?.id ?? null };
    });
    await manager.save(AuditEntry, entries, { chunk: 1_000 });
  }
}
