import Stripe from 'stripe';
import { secondMs } from '../calendar.ts';
import { type EmulatorClient, startTime } from './emulator-client.ts';
import type { Step } from './random-histories.ts';

/** Creates the official client of an emulated account. The default is the account of Stripe. */
export function createStripeClient(
  client: EmulatorClient,
  secretKey = String(client.settings('processor_a').secretKey),
): Stripe {
  const fetchFromEmulator: typeof fetch = async (url, init) => {
    const { host, pathname, search } = new URL(String(url));
    return await fetch(`${client.url}/${host}${pathname}${search}`, init);
  };
  return new Stripe(secretKey, { httpClient: Stripe.createFetchHttpClient(fetchFromEmulator), maxNetworkRetries: 0 });
}

/** Places an order, by default for a monthly subscription. Returns the control API's response. */
export async function placeStripeOrder(client: EmulatorClient, order: object = {}) {
  const { status, body } = await client.buy({ platform: 'processor_a', productId: 'plan', ...order });
  if (status !== 200) throw new Error(body.message);
  return body;
}

export const toSeconds = (ms: number): number => ms / secondMs;

/** Creates the period members of a subscription item. */
export const buildItemPeriod = (start: number, end: number) => ({
  current_period_start: toSeconds(start),
  current_period_end: toSeconds(end),
});

/** Runs steps on a new subscription. Returns its objects, and the event types of the last action. */
export async function runSubscription(client: EmulatorClient, steps: readonly Step[], order: object = {}) {
  client.clock.set(startTime);
  const { id } = await placeStripeOrder(client, order);
  let events: string[] = [];
  for (const step of steps) {
    if (typeof step === 'string') {
      await client.advance(step);
      continue;
    }
    const { status, body } = await client.act(id, ...step);
    if (status !== 200) throw new Error(body.message);
    events = body.notifications.map(({ type }: { type: string }) => type);
  }
  const subscription = await createStripeClient(client).subscriptions.retrieve(id, { expand: ['latest_invoice'] });
  return {
    id,
    events,
    subscription,
    item: subscription.items.data[0],
    invoice: subscription.latest_invoice as Stripe.Invoice,
  };
}
