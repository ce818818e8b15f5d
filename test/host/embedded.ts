import type { AddressInfo, Server } from 'node:net';
import type { DynamicModule, INestApplication, PipeTransform } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';

/** As many hosts have one: rebuilds whatever it is given. */
export class CopyingPipe implements PipeTransform {
  transform(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.transform(member)]));
  }
}

/** A DataSource of a host that knows nothing of time logs by itself. */
export function hostDataSource(url: string, name?: string): DynamicModule {
  return TypeOrmModule.forRoot({
    type: 'postgres',
    url,
    autoLoadEntities: true,
    poolErrorHandler: () => undefined,
    ...(name !== undefined && { name }),
  });
}

/** The port on which a host takes messages over TCP. */
export function tcpPortOf(app: INestApplication): number {
  return (app.getMicroservices()[0]!.unwrap<Server>().address() as AddressInfo).port;
}

/** The port on which a host listens. */
export function portOf(app: INestApplication): number {
  return (app.getHttpServer() as { address(): AddressInfo }).address().port;
}
