import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStopwatch } from '../../foundation/stopwatch.ts';
import { createRecordedFetch } from '../recorded-fetch.ts';
import { rehearseAppStore } from './rehearse.ts';

/** Queries the App Store at a server of this process, which stores nothing. Throws the error of the query. */
export async function rehearseAppStoreQuery(): Promise<void> {
  const server = createServer((_request, response) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    response.writeHead(404, headers).end('{"errorCode":4040010}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stopwatch = createStopwatch();
  const storesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetch = createRecordedFetch({
    storeName: 'The rehearsal',
    record: () => {},
    now: Date.now,
    stopwatch,
    storesUrl,
  });
  try {
    await rehearseAppStore({ fetch, stopwatch, now: Date.now });
  } finally {
    server.close();
  }
}
