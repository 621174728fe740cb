import { expect } from '@jest/globals';
import { decodePayload, type EmulatorClient, startTime } from './emulator-client.ts';

/** In milliseconds. */
export const dayMs = 86_400_000;

/** When a month bought at `start` ends, and when the next one does. */
export const monthEnd = Date.parse('2027-02-28T10:00:00Z');
export const nextMonthEnd = Date.parse('2027-03-31T10:00:00Z');

/** An action with its details, or a period by which the clock moves. */
export type Step = readonly [action: string, details?: object] | string;

/** What store_a says of a subscription: its status, its latest transaction, its renewal. */
export async function fetchSubscriptionStatus(user: EmulatorClient, id: string) {
  const { body } = await user.callServerApi(`/inApps/v1/subscriptions/${id}`);
  const last = body.data
    .flatMap(({ lastTransactions }: { lastTransactions: object[] }) => lastTransactions)
    .find(({ originalTransactionId }: { originalTransactionId: string }) => originalTransactionId === id);
  return {
    status: last.status,
    transaction: decodePayload(last.signedTransactionInfo),
    renewal: decodePayload(last.signedRenewalInfo),
  };
}

/** Lives a purchase through the steps, which must all be possible, and gives the notifications of the last one. */
export async function runSteps(user: EmulatorClient, id: string, steps: readonly Step[]): Promise<string[]> {
  let notifications: string[] = [];
  for (const step of steps) {
    if (typeof step === 'string') {
      await user.advance(step);
      continue;
    }
    const { status, body } = await user.act(id, ...step);
    expect({ status, message: body.message }).toEqual({ status: 200 });
    notifications = body.notifications.map(formatNotificationType);
  }
  return notifications;
}

/** Buys a monthly subscription at `start`, lives it through the steps and looks at it. */
export async function runHistory(user: EmulatorClient, steps: readonly Step[], order: object = {}) {
  user.clock.set(startTime);
  const { id } = (await user.buy(order)).body;
  const notifications = await runSteps(user, id, steps);
  return { id, notifications, ...(await fetchSubscriptionStatus(user, id)) };
}

/** A notification by its type and subtype. */
export const formatNotificationType = ({ notificationType, subtype }: Record<string, string>): string =>
  [notificationType, subtype].filter((word) => word !== undefined).join('/');

/** The notifications that were sent of a purchase, oldest first. */
export async function listNotificationTypes(user: EmulatorClient, id: string): Promise<string[]> {
  const { body } = await user.control('GET', '/control');
  return body.notifications
    .filter(({ purchaseId }: { purchaseId: string }) => purchaseId === id)
    .map(formatNotificationType);
}
