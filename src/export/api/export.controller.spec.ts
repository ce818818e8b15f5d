import { EventEmitter } from 'node:events';
import { Logger } from '@nestjs/common';
import { expect, it, jest } from '@jest/globals';
import type { Request, Response } from 'express';
import { RequestState, type Served, STATE } from '../../../libs/strict-request/src/index.js';
import { ExportService } from '../application/export.service.js';
import type { ExportRepository } from '../domain/export.repository.js';
import { ExportController } from './export.controller.js';

it('an export whose client leaves before it begins takes no slot', async () => {
  const repository = { export: jest.fn() };
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const request = {
    id: 'x',
    method: 'GET',
    [STATE]: new RequestState(),
    socket: { resetAndDestroy: jest.fn() },
  };
  const response = Object.assign(new EventEmitter(), { destroyed: true });
  await new ExportController(new ExportService(repository as ExportRepository)).export(
    { format: 'csv' },
    request as unknown as Request & Served,
    response as unknown as Response,
  );
  expect(repository.export).not.toHaveBeenCalled();
  expect(warn.mock.calls).toEqual([['an export ended early: the client has disconnected (x)']]);
  warn.mockRestore();
});
