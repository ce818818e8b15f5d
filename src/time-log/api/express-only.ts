import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Ends the start of an app whose HTTP our controller cannot speak. An app without HTTP is not such an app. */
@Injectable()
export class ExpressOnly implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  /** Throws an Error that says what to do. */
  onModuleInit(): void {
    const adapter = this.host.httpAdapter as Partial<HttpAdapterHost['httpAdapter']> | undefined;
    if ((adapter?.getType?.() ?? 'express') === 'express') return;
    throw new Error(
      'time logs answer HTTP on @nestjs/platform-express alone: create the app with it, or import TimeLogCoreModule, which needs no HTTP',
    );
  }
}
