import { generateKeyPairSync } from 'node:crypto';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreContext } from '../store-context.ts';
import { refresh } from './refresh.ts';
import { getReceiptRoots, getSignedDataRoots } from './trusted-roots.ts';

interface RehearsalContext extends Pick<StoreContext, 'fetch' | 'stopwatch'> {
  now(): EpochMillis;
}

/**
 * Verifies Apple's roots, and queries a purchase that `fetch` does not find. Compiles what the first validation needs:
 * certificates, the signature of API tokens and the HTTP client. Throws the error of the query.
 */
export async function rehearseAppStore({ fetch, stopwatch, now }: RehearsalContext): Promise<void> {
  for (const { certificates } of [getSignedDataRoots([]), getReceiptRoots([])])
    for (const root of certificates) root.isSignedBy(root);
  const privateKey = createPrivateKeyPem();
  await refresh(
    { originalTransactionId: '1', environment: 'Production' },
    {
      appName: 'rehearsal',
      settings: { bundleId: 'rehearsal', issuerId: 'rehearsal', keyId: 'rehearsal', privateKey },
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
