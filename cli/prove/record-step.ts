import { type Platform, platformTokens } from '../../lib/foundation/platform.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { findRefreshState } from '../../lib/purchases/purchase-table.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';
import { loadStore } from '../../lib/stores/index.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import type { Arrival } from './arrivals.ts';
import { fetchNotificationHistory } from './fetch-notification-history.ts';
import type { StepName } from './proof-step.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { createExchangeRecorder, type RecordedNotification, type RecordedStep } from './recording.ts';
import { replaceInJson } from './replace-personal-values.ts';
import type { PurchaseView, ServiceClient } from './service-client.ts';

interface RecordContext {
  readonly appName: string;
  readonly platform: Platform;
  readonly isSandbox: boolean;
  /** Start of the step, in epoch milliseconds. */
  readonly since: number;
  readonly purchase: PurchaseView;
  readonly arrivals: readonly Arrival[];
  readonly pseudonyms: Pseudonyms;
  readonly client: ServiceClient;
  readonly service: Service;
}

/** Queries the store for the purchase as the adapter does, without storing the result, and keeps the responses. */
export async function recordStep(name: StepName, options: RecordContext): Promise<RecordedStep> {
  const { appName, platform, purchase, pseudonyms, client, service } = options;
  const { purchaseId } = purchase;
  const state = await findRefreshState(service, appName, purchaseId);
  const context = await createStoreContext(service, appName, { platform, recorder: { addExternalCall: () => {} } });
  const recorder = createExchangeRecorder(context.fetch);
  const store = await loadStore(platform);
  const { refreshToken = {} } = state ?? {};
  await store.refresh?.(refreshToken, { ...context, fetch: recorder.fetch });
  const { claims } = await client.getOwners(purchaseId);
  return {
    name,
    at: service.now(),
    claimants: claims
      .toSorted((a, b) => a.lastClaimedAt.localeCompare(b.lastClaimedAt))
      .map(({ applicationUsername }) => pseudonyms.replace(applicationUsername)),
    notifications: await listNotifications(context, refreshToken, options),
    exchanges: recorder.list(pseudonyms),
    purchase: replaceInJson(purchase, pseudonyms) as RecordedStep['purchase'],
  };
}

/** Lists the notifications. The App Store keeps the payloads; the content of others follows from type and purchase. */
async function listNotifications(
  context: StoreContext,
  { originalTransactionId }: Readonly<Record<string, string>>,
  { platform, isSandbox, since, arrivals, pseudonyms }: RecordContext,
): Promise<readonly RecordedNotification[]> {
  if (platform !== platformTokens.appStore || originalTransactionId === undefined)
    return arrivals.map(({ type, receivedAt }) => ({ type, receivedAt }));
  const query = { isSandbox, since, transactionId: originalTransactionId };
  const payloads = await fetchNotificationHistory(context, query);
  return payloads.map((signedPayload, index) => ({
    type: arrivals[index]?.type ?? 'UNKNOWN',
    receivedAt: arrivals[index]?.receivedAt ?? context.now(),
    content: replaceInJson(signedPayload, pseudonyms),
  }));
}
