import { createRunOnce } from '../db/idempotency.ts';
import type { Deps } from '../deps.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { Platform } from '../purchases/platform.ts';
import type { StoreContext } from './store.ts';
import { createRecordedFetch } from './recorded-fetch.ts';

/** What the adapter of a platform may use for this application: its settings, and a fetch that the event records. */
export async function createStoreContext(
  app: string,
  platform: Platform,
  { recorder, deps }: { recorder: EventRecorder; deps: Deps },
): Promise<StoreContext> {
  const { now, emulator, appCache: cachedApps, table, accessTokens, purchases, transactions } = deps;
  return {
    appName: app,
    settings: await cachedApps.findStoreSettings(app, platform),
    fetch: createRecordedFetch({
      record: recorder.addExternalCall,
      now,
      ...(emulator.url && { storesUrl: emulator.url }),
    }),
    now,
    runOnce: createRunOnce(table, { app, platform, now }),
    findGrant: async (token) => {
      const grant = await accessTokens.find(app, token, now());
      return grant?.platform === platform ? grant : undefined;
    },
    findRefreshToken: async (purchaseId) => (await purchases.findRefreshState(app, purchaseId))?.refreshToken,
    findPurchase: async (purchaseId) => (await purchases.find(app, purchaseId))?.purchase,
    listTransactions: async (purchaseId) => await purchases.listTransactions(app, [purchaseId]),
    listTransactionsById: async (transactionId) => await transactions.listById(app, transactionId),
    extraRoots: emulator.roots,
  };
}
