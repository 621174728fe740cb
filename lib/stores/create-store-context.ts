import { createRunOnce } from '../db/idempotency.ts';
import { createStoredResults } from '../db/stored-results.ts';
import type { Deps } from '../deps.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { type Platform, storeNames } from '../shared/platform.ts';
import { createStopwatch } from '../shared/stopwatch.ts';
import { createRecordedFetch } from './recorded-fetch.ts';
import type { StoreContext } from './store-context.ts';

export type StoreContextDeps = Pick<
  Deps,
  'now' | 'emulator' | 'appCache' | 'table' | 'accessTokens' | 'vaultReferences' | 'purchases' | 'transactions'
>;

/**
 * Creates the context for one operation of an adapter. Its calls are recorded with `recorder`. `settings` is undefined
 * if the app does not use the store.
 */
export async function createStoreContext(
  appName: string,
  platform: Platform,
  { recorder, deps }: { readonly recorder: Pick<EventRecorder, 'addExternalCall'>; readonly deps: StoreContextDeps },
): Promise<StoreContext> {
  const { now, emulator, appCache, table, accessTokens, vaultReferences, purchases, transactions } = deps;
  const [settings, catalogue = {}] = await Promise.all([
    appCache.findStoreSettings(appName, platform),
    appCache.findCatalogue(appName),
  ]);
  const stopwatch = createStopwatch(emulator.timeFactor);
  return {
    appName,
    settings,
    catalogue,
    fetch: createRecordedFetch({
      storeName: storeNames[platform],
      record: (call) => recorder.addExternalCall({ ...call, platform }),
      now,
      stopwatch,
      ...(emulator.url && { storesUrl: emulator.url }),
    }),
    now,
    stopwatch,
    runOnce: createRunOnce(table, { appName, platform, now }),
    storedResults: createStoredResults(table, { appName, platform, now }),
    findGrant: async (token) => {
      const grant = await accessTokens.find(appName, token, now());
      return grant?.platform === platform ? grant : undefined;
    },
    getVaultReference: async (customerId) => await vaultReferences.getOrCreate(appName, customerId),
    findRefreshToken: async (purchaseId) => (await purchases.findRefreshState(appName, purchaseId))?.refreshToken,
    findPurchase: async (purchaseId) => (await purchases.find(appName, purchaseId))?.purchase,
    findObservedAt: async (purchaseId) => (await purchases.find(appName, purchaseId))?.asOf,
    listTransactions: async (purchaseId) => await purchases.listTransactions(appName, [purchaseId]),
    listTransactionsById: async (transactionId) => await transactions.listById(appName, transactionId),
    extraRoots: emulator.roots,
  };
}
