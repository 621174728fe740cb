import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A running HTTP server on a free port of 127.0.0.1. */
export interface HttpServer {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Stops the server and drops open connections. */
  close(): Promise<void>;
}

/** Starts an HTTP server. An error of `handle` results in status 500. */
export async function startHttpServer(
  handle: (...args: Parameters<RequestListener>) => void | Promise<void>,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    Promise.resolve(handle(request, response)).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
