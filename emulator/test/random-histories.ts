import { expect } from '@jest/globals';
import { decodePayload, type EmulatorClient, startTime, type TestResponse } from './emulator-client.ts';

/** Ends of the first and second month of a purchase at `startTime`. */
export const monthEnd = Date.parse('2027-02-28T10:00:00Z');
export const nextMonthEnd = Date.parse('2027-03-31T10:00:00Z');

/** Action with its details, or period by which the clock is moved. */
export type Step = readonly [action: string, details?: object] | string;

/** Fetches the status, the latest transaction and the renewal information of a subscription from the App Store. */
export async function fetchSubscriptionStatus(client: EmulatorClient, id: string) {
  const { body } = await client.callServerApi(`/inApps/v1/subscriptions/${id}`);
  const last = body.data
    .flatMap(({ lastTransactions }: { lastTransactions: object[] }) => lastTransactions)
    .find(({ originalTransactionId }: { originalTransactionId: string }) => originalTransactionId === id);
  return {
    status: last.status,
    transaction: decodePayload(last.signedTransactionInfo),
    renewal: decodePayload(last.signedRenewalInfo),
  };
}

/** Runs a step on a purchase and returns the response of the control API. */
export const runStep = (client: EmulatorClient, id: string, step: Step): Promise<TestResponse> =>
  typeof step === 'string' ? client.advance(step) : client.act(id, ...step);

/** Runs the steps on a purchase and returns the notifications of the last step. Fails if a step is rejected. */
export async function runSteps(client: EmulatorClient, id: string, steps: readonly Step[]): Promise<string[]> {
  let notifications: string[] = [];
  for (const step of steps) {
    const { status, body } = await runStep(client, id, step);
    expect({ status, message: body.message }).toEqual({ status: 200 });
    if (typeof step !== 'string') notifications = body.notifications.map(formatNotificationType);
  }
  return notifications;
}

/** Buys a monthly subscription at `startTime`, runs the steps and fetches its status. */
export async function runHistory(client: EmulatorClient, steps: readonly Step[], order: object = {}) {
  client.clock.set(startTime);
  const { id } = (await client.buy(order)).body;
  const notifications = await runSteps(client, id, steps);
  return { id, notifications, ...(await fetchSubscriptionStatus(client, id)) };
}

/** Formats the type and subtype of a notification. */
export const formatNotificationType = ({ notificationType, subtype }: Record<string, string>): string =>
  [notificationType, subtype].filter((part) => part !== undefined).join('/');

/** Lists the notification types of a purchase, the oldest first. */
export async function listNotificationTypes(client: EmulatorClient, id: string): Promise<string[]> {
  const { body } = await client.control('GET', '/control');
  return body.notifications
    .filter(({ purchaseId }: { purchaseId: string }) => purchaseId === id)
    .map(formatNotificationType);
}
