import { onceIn } from '../db/once.ts';
import type { Deps } from '../deps.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Platform } from '../purchases/platform.ts';
import type { Asking } from '../stores/store.ts';
import { recordedFetch } from './recorded-fetch.ts';

/** What the adapter of a platform may use for this application: its settings, and a fetch that the event records. */
export async function askingOf(
  app: string,
  platform: Platform,
  { event, deps }: { event: Recorder; deps: Deps },
): Promise<Asking> {
  const { now, emulator, cachedApps, table, accessTokens, purchases, transactions } = deps;
  return {
    app,
    settings: await cachedApps.storeSettings(app, platform),
    fetch: recordedFetch({ record: event.externalCall, now, ...(emulator.url && { storesUrl: emulator.url }) }),
    now,
    once: onceIn(table, { app, platform, now }),
    grantOf: async (token) => {
      const grant = await accessTokens.find(app, token, now());
      return grant?.platform === platform ? grant : undefined;
    },
    refreshTokenOf: async (purchaseId) => (await purchases.refreshable(app, purchaseId))?.refreshToken,
    purchaseOf: async (purchaseId) => (await purchases.find(app, purchaseId))?.purchase,
    transactionsOf: async (purchaseId) => await purchases.transactionsOf(app, [purchaseId]),
    transactionsNamed: async (transactionId) => await transactions.named(app, transactionId),
    extraRoots: emulator.roots,
  };
}
