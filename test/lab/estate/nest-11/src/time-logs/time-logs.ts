import { TimeLogModule } from 'time-logs/time-log';
import { ProjectsModule } from '../projects/projects.module';
import { attributes } from './attributes';
import { ProjectHooks } from './project.hooks';

/** Our logs: one object, imported wherever they are used. */
export const ourTimeLogs = TimeLogModule.forRoot({
  hooks: ProjectHooks,
  imports: [ProjectsModule],
  attributes,
});

/** The logs of our partner, in a database of their own, which only we correct: a class of its own, mounted apart. */
export class PartnerTimeLogModule extends TimeLogModule {}
export const partnerTimeLogs = PartnerTimeLogModule.forRoot({
  dataSource: 'partner',
  source: '/partner/v1/time-logs',
  routes: { correct: false, delete: false, events: false },
});
