import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { modulesProviding } from '../../../open-api/src/index.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

/** Ends the startup if two modules handle the same patterns: one would receive all messages. */
@Injectable()
export class DuplicatePatternCheck implements OnModuleInit {
  constructor(private readonly modules: ModulesContainer) {}

  onModuleInit(): void {
    const holders = modulesProviding(TimeLogMessagesController, this.modules).map(({ name }) => name);
    if (holders.length < 2) return;
    throw new Error(
      `the modules ${holders.join(' and ')} both answer time-log.record.v1 and the other patterns: import TimeLogMessagesModule once, and put other message handlers into an app of their own`,
    );
  }
}
