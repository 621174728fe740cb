import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer {
  /** Base URL on the loopback address without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Stops the server and drops open connections. */
  close(): Promise<void>;
}

/**
 * Time in milliseconds after which a server closes an idle connection, as load balancers do. A client on a busy machine
 * can send a request on a connection that the default of Node.js (5 s) has just closed.
 */
const keepAliveTimeout = 65_000;

/** Starts an HTTP server, by default on a free port of 127.0.0.1. An error of `handle` results in status 500. */
export async function startHttpServer(
  handle: (...args: Parameters<RequestListener>) => void | Promise<void>,
  { port = 0, host = '127.0.0.1' } = {},
): Promise<HttpServer> {
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    Promise.resolve(handle(request, response)).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${boundPort}`,
    port: boundPort,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
