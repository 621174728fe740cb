import { expect } from '@jest/globals';
import { type EmulatorUser, payloadOf, start } from './emulator-client.ts';

/** In milliseconds. */
export const day = 86_400_000;

/** When a month bought at `start` ends, and when the next one does. */
export const monthEnd = Date.parse('2027-02-28T10:00:00Z');
export const nextMonthEnd = Date.parse('2027-03-31T10:00:00Z');

/** An action with its details, or a period by which the clock moves. */
export type Step = readonly [action: string, details?: object] | string;

/** What store_a says of a subscription: its status, its latest transaction, its renewal. */
export async function look(user: EmulatorUser, id: string) {
  const { body } = await user.ask(`/inApps/v1/subscriptions/${id}`);
  const last = body.data
    .flatMap(({ lastTransactions }: { lastTransactions: object[] }) => lastTransactions)
    .find(({ originalTransactionId }: { originalTransactionId: string }) => originalTransactionId === id);
  return {
    status: last.status,
    transaction: payloadOf(last.signedTransactionInfo),
    renewal: payloadOf(last.signedRenewalInfo),
  };
}

/** Lives a purchase through the steps, which must all be possible, and gives the notifications of the last one. */
export async function walk(user: EmulatorUser, id: string, steps: readonly Step[]): Promise<string[]> {
  let notifications: string[] = [];
  for (const step of steps) {
    if (typeof step === 'string') {
      await user.advance(step);
      continue;
    }
    const { status, body } = await user.act(id, ...step);
    expect({ status, message: body.message }).toEqual({ status: 200 });
    notifications = body.notifications.map(named);
  }
  return notifications;
}

/** Buys a monthly subscription at `start`, lives it through the steps and looks at it. */
export async function live(user: EmulatorUser, steps: readonly Step[], order: object = {}) {
  user.clock.set(start);
  const { id } = (await user.buy(order)).body;
  const notifications = await walk(user, id, steps);
  return { id, notifications, ...(await look(user, id)) };
}

/** A notification by its type and subtype. */
export const named = ({ notificationType, subtype }: Record<string, string>): string =>
  [notificationType, subtype].filter((word) => word !== undefined).join('/');

/** The notifications that were sent of a purchase, oldest first. */
export async function sentOf(user: EmulatorUser, id: string): Promise<string[]> {
  const { body } = await user.control('GET', '/control');
  return body.notifications.filter(({ purchaseId }: { purchaseId: string }) => purchaseId === id).map(named);
}
