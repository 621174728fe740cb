import { beforeEach } from '@jest/globals';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';

/**
 * Starts an app's server for the tests of a file. Before each test, clears its requests and resets its response to 200.
 */
export function useApplicationServer(): () => ApplicationServer {
  const server = startBeforeAll(startApplicationServer);
  beforeEach(() => {
    server.requests.length = 0;
    server.respondWith({ status: 200 });
  });
  return () => server;
}
