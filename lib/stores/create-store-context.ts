import type { AppCache } from '../apps/app-cache.ts';
import type { AccessTokenRepository } from '../customers/access-token-repository.ts';
import type { VaultReferenceRepository } from '../customers/vault-reference-repository.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import type { TransactionRepository } from '../purchases/transaction-repository.ts';
import { type Platform, storeNames } from '../shared/platform.ts';
import { createStopwatch } from '../shared/stopwatch.ts';
import { type StoreEmulator, selectEmulator } from '../shared/store-emulator.ts';
import type { OperationRepository } from '../shared/stored-operations.ts';
import type { EpochMillis } from '../shared/time.ts';
import { createRecordedFetch } from './recorded-fetch.ts';
import type { StoreContext } from './store-context.ts';

export interface StoreContextDeps {
  now(): EpochMillis;
  readonly emulator: StoreEmulator;
  readonly appCache: AppCache;
  readonly operations: OperationRepository;
  readonly accessTokens: AccessTokenRepository;
  readonly vaultReferences: VaultReferenceRepository;
  readonly purchases: PurchaseRepository;
  readonly transactions: TransactionRepository;
}

/**
 * Creates the context for one operation of an adapter. Its calls are recorded with `recorder`. `settings` is undefined
 * if the app does not use the store.
 */
export async function createStoreContext(
  appName: string,
  platform: Platform,
  { recorder, deps }: { readonly recorder: Pick<EventRecorder, 'addExternalCall'>; readonly deps: StoreContextDeps },
): Promise<StoreContext> {
  const { now, appCache, operations, accessTokens, vaultReferences, purchases, transactions } = deps;
  const [settings, catalogue = {}] = await Promise.all([
    appCache.findStoreSettings(appName, platform),
    appCache.findCatalogue(appName),
  ]);
  const emulator = selectEmulator(deps.emulator, appName);
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
    ...operations.select(appName, platform),
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
