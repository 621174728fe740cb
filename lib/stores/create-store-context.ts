import { createRunOnce } from '../db/idempotency.ts';
import type { Deps } from '../deps.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { Platform } from '../shared/platform.ts';
import { createRecordedFetch } from './recorded-fetch.ts';
import type { StoreContext } from './store.ts';

/** What the adapter of a platform may use for this application: its settings, and a fetch that the event records. */
export async function createStoreContext(
  appName: string,
  platform: Platform,
  { recorder, deps }: { recorder: EventRecorder; deps: Deps },
): Promise<StoreContext> {
  const { now, emulator, appCache, table, accessTokens, purchases, transactions } = deps;
  return {
    appName,
    settings: await appCache.findStoreSettings(appName, platform),
    fetch: createRecordedFetch({
      record: recorder.addExternalCall,
      now,
      ...(emulator.url && { storesUrl: emulator.url }),
    }),
    now,
    runOnce: createRunOnce(table, { appName, platform, now }),
    findGrant: async (token) => {
      const grant = await accessTokens.find(appName, token, now());
      return grant?.platform === platform ? grant : undefined;
    },
    findRefreshToken: async (purchaseId) => (await purchases.findRefreshState(appName, purchaseId))?.refreshToken,
    findPurchase: async (purchaseId) => (await purchases.find(appName, purchaseId))?.purchase,
    listTransactions: async (purchaseId) => await purchases.listTransactions(appName, [purchaseId]),
    listTransactionsById: async (transactionId) => await transactions.listById(appName, transactionId),
    extraRoots: emulator.roots,
  };
}
