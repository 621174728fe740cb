import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import { findCachedSettings } from '../apps/store-settings-table.ts';
import { findAccessToken } from '../customers/access-token-table.ts';
import { getOrCreateVaultReference } from '../customers/vault-reference-table.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { type Platform, storeNames } from '../foundation/platform.ts';
import { type Service, selectEmulator } from '../foundation/service.ts';
import { createStopwatch } from '../foundation/stopwatch.ts';
import { findPurchase, findRefreshState, listTransactionsOfPurchases } from '../purchases/purchase-table.ts';
import { listTransactionsById } from '../purchases/transaction-table.ts';
import { selectOperations } from './operation-table.ts';
import { createRecordedFetch } from './recorded-fetch.ts';
import type { StoreContext } from './store-context.ts';

/**
 * Creates the context for one operation of an adapter. Its calls are recorded with `recorder`. `settings` is undefined
 * if the app does not use the store.
 */
export async function createStoreContext(
  service: Service,
  appName: string,
  { platform, recorder }: { readonly platform: Platform; readonly recorder: Pick<EventRecorder, 'addExternalCall'> },
): Promise<StoreContext> {
  const { now } = service;
  const [settings, catalogue = {}] = await Promise.all([
    findCachedSettings(service, appName, platform),
    findCachedCatalogue(service, appName),
  ]);
  const emulator = selectEmulator(service.emulator, appName);
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
    ...selectOperations(service, appName, platform),
    findAccessGrant: async (token) => {
      const grant = await findAccessToken(service, appName, token, now());
      return grant?.platform === platform ? grant : undefined;
    },
    getVaultReference: async (customerId) => await getOrCreateVaultReference(service, appName, customerId),
    findRefreshToken: async (purchaseId) => (await findRefreshState(service, appName, purchaseId))?.refreshToken,
    findPurchase: async (purchaseId) => (await findPurchase(service, appName, purchaseId))?.purchase,
    findObservedAt: async (purchaseId) => (await findPurchase(service, appName, purchaseId))?.asOf,
    listTransactions: async (purchaseId) => await listTransactionsOfPurchases(service, appName, [purchaseId]),
    listTransactionsById: async (transactionId) => await listTransactionsById(service, appName, transactionId),
    extraRoots: emulator.roots,
  };
}
