import { Injectable } from '@nestjs/common';
import type { TimeLogChange, TimeLogHooks, TimeLogValues, WrittenTimeLogChange } from 'time-logs/time-log';
import type { EntityManager } from 'typeorm';
import { ProjectsService } from '../projects/projects.service.js';
import type { OurAttributes } from './attributes.js';
import { AuditEntry } from './audit-entry.entity.js';

/** Logs are of open projects and tell who has entered them, and each change leaves a trace, or is not made. */
@Injectable()
export class ProjectHooks implements TimeLogHooks<OurAttributes> {
  constructor(private readonly projects: ProjectsService) {}

  before({ kind, values, caller }: TimeLogChange<OurAttributes>): TimeLogValues<OurAttributes> | undefined {
    // A correction without attributes keeps those that are stored.
    if (values === undefined || (kind === 'correct' && !values.attributes)) return undefined;
    return { ...values, attributes: { billable: true, ...values.attributes, enteredBy: caller?.id } };
  }

  async within(change: WrittenTimeLogChange, manager: EntityManager): Promise<void> {
    const { kind, log, previous = null, caller } = change;
    const { id: logId, projectId } = log;
    // Both projects of a moved log, and that of a deleted one.
    await this.projects.requireOpen([projectId, previous?.projectId ?? projectId], manager);
    await manager.save(AuditEntry, { kind, logId, projectId, previous, userName: caller?.id ?? null });
  }
}
