import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { type ObjectServer, startObjectServer } from './object-server.ts';

/** Starts an object server for the clients of this test file. Every test starts without objects and failures. */
export function useObjectServer(): () => ObjectServer {
  let server: ObjectServer;
  beforeAll(async () => {
    server = await startObjectServer();
    process.env.AWS_ENDPOINT_URL_S3 = server.url;
  });
  beforeEach(() => {
    server.objects.clear();
    server.requests.length = 0;
    server.failures.length = 0;
  });
  afterAll(async () => {
    delete process.env.AWS_ENDPOINT_URL_S3;
    await server.close();
  });
  return () => server;
}
