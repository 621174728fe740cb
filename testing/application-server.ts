import type { IncomingHttpHeaders } from 'node:http';
import { startHttpServer } from '../local/http-server.ts';

/** A request that the app's server received. */
export interface ReceivedRequest {
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface ServerResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Accepts the request and never responds. */
  readonly hangs?: boolean;
}

/** The server of an app, which receives webhooks. */
export interface ApplicationServer {
  readonly url: string;
  /** All requests since the start, oldest first. A test may empty the array. */
  readonly requests: ReceivedRequest[];
  /** Counts the requests that hang and whose connection is open. */
  countHanging(): number;
  /** Sets the response to all later requests, fixed or computed from the request. The default is status 200. */
  respondWith(response: ServerResponse | ((request: ReceivedRequest) => ServerResponse)): void;
  close(): Promise<void>;
}

export async function startApplicationServer(): Promise<ApplicationServer> {
  const requests: ReceivedRequest[] = [];
  let chooseResponse: (request: ReceivedRequest) => ServerResponse = () => ({ status: 200 });
  const hanging = new Set<object>();
  const server = await startHttpServer(async (request, response) => {
    const { url: path = '', headers } = request;
    const received = { path, headers, body: Buffer.concat(await request.toArray()).toString('utf8') };
    requests.push(received);
    const { status, headers: responseHeaders = {}, body = '', hangs } = chooseResponse(received);
    if (!hangs) return void response.writeHead(status, { ...responseHeaders }).end(body);
    hanging.add(response);
    response.once('close', () => hanging.delete(response));
  });
  return {
    ...server,
    requests,
    countHanging: () => hanging.size,
    respondWith(response) {
      chooseResponse = typeof response === 'function' ? response : () => response;
    },
  };
}
