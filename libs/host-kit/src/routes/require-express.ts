import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Stops the start of an app with another HTTP platform than Express. An app without HTTP may start. */
@Injectable()
export class RequireExpress implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  /** Throws an Error that names the remedy. */
  onModuleInit(): void {
    const adapter = this.host.httpAdapter as Partial<HttpAdapterHost['httpAdapter']> | undefined;
    if ((adapter?.getType?.() ?? 'express') === 'express') return;
    throw new Error(
      'time logs over HTTP require @nestjs/platform-express: create the app with it, or import TimeLogCoreModule, which has no HTTP',
    );
  }
}
