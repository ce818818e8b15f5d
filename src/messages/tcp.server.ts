import { ServerTCP } from '@nestjs/microservices';
import { EMPTY } from 'rxjs';
import { type DoorServer, SERIALIZER, SILENT } from './door.server.js';

/** The most characters of a message, with what a packet holds of the next one. More ends the connection. */
const LONGEST = 2 * 1_048_576;

/** Messages from clients of our own port. */
export class TcpServer extends ServerTCP implements DoorServer {
  readonly reach = EMPTY;
  protected override readonly logger = SILENT as never;

  constructor({ hostname, port }: URL) {
    super({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port),
      maxBufferSize: LONGEST,
      serializer: SERIALIZER,
    });
  }

  /** Connections that are open stay so: what comes there is refused, so that its sender knows. */
  async stopTaking(): Promise<void> {
    this.unwrap<{ close(): void }>().close();
  }
}
