import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';

/**
 * Starts an app's server for the tests of a file. Before each test, clears its requests and resets its response to 200.
 */
export function useApplicationServer(): () => ApplicationServer {
  let server: ApplicationServer;
  beforeAll(async () => {
    server = await startApplicationServer();
  });
  afterAll(async () => await server.close());
  beforeEach(() => {
    server.requests.length = 0;
    server.respondWith({ status: 200 });
  });
  return () => server;
}
