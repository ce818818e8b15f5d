import { Controller, Get, Param, ParseUUIDPipe, UseGuards } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { StaffGuard } from '../staff/staff.guard.js';

@Controller('hours')
@UseGuards(StaffGuard)
export class HoursController {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  @Get(':projectId')
  async of(@Param('projectId', ParseUUIDPipe) projectId: string): Promise<object> {
    const [row] = await this.dataSource.query(
      'select coalesce(sum(hours), 0)::float as hours from hours where project_id = $1',
      [projectId],
    );
    return row;
  }
}
