import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { TimeLogChange, TimeLogHooks, WrittenTimeLogChange } from 'time-logs/time-log';
import { type EntityManager, Repository } from 'typeorm';
import { Project } from '../projects/project.entity';
import { AuditEntry } from './audit-entry.entity';

/** Logs are of open projects of ours, and each change of one leaves a trace, or is not made. */
@Injectable()
export class ProjectHooks implements TimeLogHooks {
  constructor(@InjectRepository(Project) private readonly projects: Repository<Project>) {}

  async before({ values }: TimeLogChange, manager: EntityManager = this.projects.manager): Promise<void> {
    if (values === undefined) return;
    const project = await manager.findOneBy(Project, { id: values.projectId });
    if (project === null) throw new NotFoundException('there is no such project');
    if (project.isClosed) throw new ConflictException(`the project ${project.name} is closed`);
  }

  async within({ kind, log, caller }: WrittenTimeLogChange, manager: EntityManager): Promise<void> {
    const { id: logId, projectId } = log;
    await manager.insert(AuditEntry, { kind, logId, projectId, userName: caller?.id ?? null });
  }
}
