import { buffer } from 'node:stream/consumers';
import { createTableClient, type Table } from '../lib/foundation/table.ts';
import { startHttpServer } from '../local/http-server.ts';

/** A connection to the table engine that can lose a response. */
export interface LossyDatabase {
  /** The table of the tests over this connection. The SDK retries its calls. */
  readonly table: Table;
  /** Drops the connection after the next write was made, without its response. */
  loseNextResponse(): void;
  close(): Promise<void>;
}

/** Connects to the table through an HTTP proxy. Call `createTestTable` first. */
export async function connectLossyDatabase({ name }: Table): Promise<LossyDatabase> {
  let isLosing = false;
  const proxy = await startHttpServer(async (request, response) => {
    const headers = Object.entries(request.headers).map(([key, value]): [string, string] => [key, String(value)]);
    const result = await fetch(`${process.env.AWS_ENDPOINT_URL_DYNAMODB}`, {
      method: 'POST',
      headers: headers.filter(([key]) => /^(x-amz-|authorization|content-type)/.test(key)),
      body: await buffer(request),
    });
    const body = Buffer.from(await result.arrayBuffer());
    if (isLosing && /\.(Update|TransactWrite)Items?$/.test(String(request.headers['x-amz-target']))) {
      isLosing = false;
      request.socket.destroy();
      return;
    }
    response.writeHead(result.status, { 'Content-Type': String(result.headers.get('content-type')) }).end(body);
  });
  const options = { maxAttempts: 3, endpoint: proxy.url };
  return {
    table: createTableClient(name, options),
    loseNextResponse() {
      isLosing = true;
    },
    close: proxy.close,
  };
}
