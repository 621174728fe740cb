import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type HttpServer, startHttpServer } from '../local/http-server.ts';
import type { TestService } from './service.ts';

/** A call of the service to a store. */
export interface StoreCall {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

/**
 * Starts a server between the service and the emulated stores, before the first use of the service. `intercept` sees
 * each call to a store, and can return the status of the response instead of the emulator.
 */
export async function interceptStores(
  { emulatorUrl }: Pick<TestService, 'emulatorUrl'>,
  intercept: (call: StoreCall) => number | undefined,
): Promise<HttpServer> {
  const server = await startHttpServer(async (request, response) => {
    const call = await readCall(request);
    const status = intercept(call);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const { host, pathname, search } = call.url;
    const { 'content-length': _length, host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(`${emulatorUrl}/${host}${pathname}${search}`, {
      method: call.method,
      headers: headers as Record<string, string>,
      ...(call.body !== '' && { body: call.body }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(await answer.text());
  });
  process.env.STORE_EMULATOR_URL = server.url;
  return server;
}

/** The path of a call to the emulator begins with the host of the store. */
const readCall = async (request: IncomingMessage): Promise<StoreCall> => ({
  method: request.method ?? '',
  url: new URL(`https:/${request.url}`),
  body: await text(request),
});
