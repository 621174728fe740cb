import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { getService } from '../lib/foundation/get-service.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { listDueItems } from '../lib/refresh/due-item-table.ts';
import { runDueRefundStep } from '../lib/refunds/answer-refund-request.ts';
import type { NotificationRouter } from './notification-router.ts';
import type { TestService } from './service.ts';

/** A refund request as the emulated store has it. */
export interface EmulatedRefundRequest {
  readonly purchaseId: string;
  readonly state: 'open' | 'approved' | 'declined';
  readonly deadline: string;
  readonly answer?: { readonly at: string; readonly body: Readonly<Record<string, unknown>> };
  readonly ignoredAnswers: readonly { readonly body: Readonly<Record<string, unknown>> }[];
}

/** Buys and validates a consumable. Returns its id at the store. */
export async function buyCoins(service: TestService, keys: IssuedApiKeys, order: object): Promise<string> {
  const bought = await service.callControl('/purchases', { productId: 'coins', type: 'consumable', ...order });
  await service.validate(keys, bought.validate);
  return bought.id;
}

/** Requests a refund, and processes the notification of the store. */
export async function requestRefund(
  { service, router, keys }: { service: TestService; router: NotificationRouter; keys: IssuedApiKeys },
  id: string,
  details: object = {},
): Promise<void> {
  await service.callControl(`/purchases/${id}/request-refund`, details);
  await processNotifications(router, keys);
}

/** Processes all notifications that the stores have sent for the app. */
export async function processNotifications(router: NotificationRouter, { appName }: IssuedApiKeys): Promise<void> {
  await router.waitUntilPosted();
  await router.process(router.take(appName));
}

/** Lists and runs the due steps of refund requests, like the workers. */
export async function runDueSteps(
  { appName }: IssuedApiKeys,
  step: typeof runDueRefundStep = runDueRefundStep,
): Promise<void> {
  const due = await listDueItems(getService(), getService().now(), 400);
  for (const item of due)
    if (item.kind === 'refundRequest' && item.appName === appName) await step(getService(), appName, item.requestId);
}

/** Returns the emulated store's request about a purchase. */
export async function getEmulatedRequest(service: TestService, id: string): Promise<EmulatedRefundRequest> {
  const { refundRequests } = await service.callControl('/refund-requests');
  return refundRequests.find(({ purchaseId }: EmulatedRefundRequest) => purchaseId === id);
}

/** Platforms whose stores request statements about refunds. */
export const refundPlatforms = ['store_a', 'store_b'] as const satisfies readonly Platform[];
