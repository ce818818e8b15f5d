import { type MicroserviceOptions, Transport } from '@nestjs/microservices';

/** Returns the transport of our messages: NATS if there is one, else TCP. Each message goes to one instance. */
export function transportOf(env: NodeJS.ProcessEnv, host = 'localhost'): MicroserviceOptions {
  if (env.NATS_URL)
    return { transport: Transport.NATS, options: { servers: [env.NATS_URL], queue: 'time-logs' } };
  return { transport: Transport.TCP, options: { host, port: Number(env.MESSAGES_PORT ?? 3001) } };
}
