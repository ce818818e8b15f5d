import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';

/** Milliseconds between two checks for requests that take too long. */
const CHECK_INTERVAL_MS = 2_000;

/** The prototypes that Express gives to requests and responses. Its types lack them. */
type Application = RequestListener & { request: object; response: object };

/**
 * Nest's adapter for Express, with requests and responses that are made with the prototypes of the app. By default
 * Express changes the prototype of each when it arrives, and V8 then runs all further work on it slowly. Here the
 * prototypes already match, so nothing changes.
 */
export class EdgeAdapter extends ExpressAdapter {
  /** `headersLimit`: the most bytes of request line and headers; above it the answer is `431`. */
  constructor(private readonly headersLimit: number) {
    super();
  }

  override initHttpServer(): void {
    const app = this.getInstance<Application>();
    class AppRequest extends IncomingMessage {}
    class AppResponse extends ServerResponse {}
    Object.setPrototypeOf(AppRequest.prototype, app.request);
    Object.setPrototypeOf(AppResponse.prototype, app.response);
    Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
    this.httpServer = createServer(
      {
        IncomingMessage: AppRequest,
        ServerResponse: AppResponse,
        maxHeaderSize: this.headersLimit,
        connectionsCheckingInterval: CHECK_INTERVAL_MS,
        // The edge answers instead: Node's answer has an empty body.
        requireHostHeader: false,
      },
      app,
    );
  }
}
