import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';

/** The prototypes that Express gives to requests and responses; its types leave them out. */
type Application = RequestListener & { request: object; response: object };

/**
 * Nest's adapter for Express, whose requests and responses are made with the prototypes of the app. Express gives each
 * those prototypes when it arrives, and an object whose prototype was changed is slow for all that follows; where they
 * are the same already nothing changes. It saves two fifths of a request's CPU time (`test/bench/README.md`).
 */
export class EdgeAdapter extends ExpressAdapter {
  /** `headersLimit`: bytes of request line and headers, above which the answer is `431`. */
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
      { IncomingMessage: AppRequest, ServerResponse: AppResponse, maxHeaderSize: this.headersLimit },
      app,
    );
  }
}
