import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStopwatch } from '../../foundation/stopwatch.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { createRecordedFetch } from '../recorded-fetch.ts';
import type { StoreContext } from '../store-context.ts';
import { getReceiptRoots, getSignedDataRoots } from './certificate-chain.ts';
import { refresh } from './refresh.ts';

/** Queries the App Store at a server of this process, which stores nothing. Throws the error of the query. */
export async function warmUpAppStoreQuery(): Promise<void> {
  const server = createServer((_request, response) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    response.writeHead(404, headers).end('{"errorCode":4040010}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stopwatch = createStopwatch();
  const storesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetch = createRecordedFetch({
    storeName: 'The warm-up',
    record: () => {},
    now: Date.now,
    stopwatch,
    storesUrl,
  });
  try {
    await warmUpAppStore({ fetch, stopwatch, now: Date.now });
  } finally {
    server.close();
  }
}

interface WarmUpContext extends Pick<StoreContext, 'fetch' | 'stopwatch'> {
  now(): EpochMillis;
}

/**
 * Verifies Apple's roots, and queries a purchase that `fetch` does not find. Compiles what the first validation needs:
 * certificates, the signature of API tokens and the HTTP client. Throws the error of the query.
 */
async function warmUpAppStore({ fetch, stopwatch, now }: WarmUpContext): Promise<void> {
  for (const { certificates } of [getSignedDataRoots([]), getReceiptRoots([])])
    for (const root of certificates) root.isSignedBy(root);
  const privateKey = createPrivateKeyPem();
  await refresh(
    { originalTransactionId: '1', environment: 'Production' },
    {
      appName: 'warmup',
      settings: { bundleId: 'warmup', issuerId: 'warmup', keyId: 'warmup', privateKey },
      fetch,
      now,
      stopwatch,
      runOnce: async (_key, run) => await run(),
      extraRoots: [],
    },
  );
}

const createPrivateKeyPem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
