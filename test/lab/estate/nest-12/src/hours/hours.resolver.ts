import { UseFilters } from '@nestjs/common';
import { Args, Float, Query, Resolver } from '@nestjs/graphql';
import { TimeLogService } from 'time-logs/time-log';
import { GraphqlErrorFilter } from '../errors/graphql-error.filter.js';

@Resolver()
export class HoursResolver {
  constructor(private readonly timeLogs: TimeLogService) {}

  @Query(() => Float, { nullable: true })
  @UseFilters(GraphqlErrorFilter)
  async hoursOfLog(@Args('id') id: string): Promise<number> {
    return (await this.timeLogs.get(id)).duration;
  }

  /** Without a filter of its own: that of the app leaves errors to GraphQL. */
  @Query(() => String, { nullable: true })
  async projectOfLog(@Args('id') id: string): Promise<string> {
    return (await this.timeLogs.get(id)).projectId;
  }
}
