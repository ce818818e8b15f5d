import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { type EntityManager, In } from 'typeorm';
import { Project } from './project.entity.js';

@Injectable()
export class ProjectsService {
  /** Throws unless all of these projects exist and are open. Asks once, also for an import of many logs. */
  async requireOpen(projectIds: readonly string[], manager: EntityManager): Promise<void> {
    const ids = [...new Set(projectIds)];
    const projects = await manager.findBy(Project, { id: In(ids) });
    if (projects.length < ids.length) throw new NotFoundException('there is no such project');
    const closed = projects.find(({ isClosed }) => isClosed);
    if (closed) throw new ConflictException(`the project ${closed.name} is closed`);
  }
}
