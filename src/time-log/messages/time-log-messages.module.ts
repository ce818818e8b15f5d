import { Module } from '@nestjs/common';
import { MessagesUnderWay } from '../../../libs/message-edge/src/index.js';
import { REQUEST_BOUNDS } from '../../../libs/strict-request/src/index.js';
import { TIME_LOG_LIMITS } from '../time-log.limits.js';
import { TimeLogModule } from '../time-log.module.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

/** Time logs over whatever transports the app connects (`connectMicroservice`). Needs what TimeLogModule needs. */
@Module({
  imports: [TimeLogModule],
  controllers: [TimeLogMessagesController],
  providers: [MessagesUnderWay, { provide: REQUEST_BOUNDS, useValue: TIME_LOG_LIMITS }],
})
export class TimeLogMessagesModule {}
