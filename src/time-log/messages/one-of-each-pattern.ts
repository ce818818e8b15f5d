import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { modulesProviding } from '../nest-controllers.js';
import { TimeLogMessagesController } from './time-log-messages.controller.js';

/** Ends the start of an app of which two modules answer one pattern: the second one would get all its messages. */
@Injectable()
export class OneOfEachPattern implements OnModuleInit {
  constructor(private readonly modules: ModulesContainer) {}

  /** Throws an Error that names the modules. */
  onModuleInit(): void {
    const holders = modulesProviding(TimeLogMessagesController, this.modules).map(({ name }) => name);
    if (holders.length < 2) return;
    throw new Error(
      `the modules ${holders.join(' and ')} both answer time-log.record.v1 and the other patterns: import TimeLogMessagesModule once, and give what else answers messages an app of its own`,
    );
  }
}
