import type { LocalService } from '../local/start-local.ts';
import { buildBasicAuth } from './call.ts';
import { callLocalControl, type Json } from './call-local.ts';
import { waitFor } from './wait-for.ts';

/** Time of the service after `loadShowcase`. */
export const showcaseTime = '2030-06-14T09:30:00Z';

interface Step {
  /** Time of the step. Steps are in order. */
  readonly at: string;
  readonly run: (showcase: Showcase) => Promise<void>;
}

interface Showcase {
  /** Buys at a store, and validates the purchase as the app of the customer does. */
  buy(customer: string, order: Json): Promise<void>;
  /** Applies an action of the emulator to the purchase of a customer. */
  act(customer: string, action: string, details?: Json): Promise<void>;
}

const monthly = { productId: 'premium_monthly', type: 'paid subscription', period: 'P1M', autoRenew: true };
const yearly = { ...monthly, productId: 'premium_yearly', period: 'P1Y' };
const appStore = { ...monthly, platform: 'store_a', priceMicros: 9_990_000, currency: 'USD' };
const play = { ...monthly, platform: 'store_b', priceMicros: 8_990_000, currency: 'EUR' };
const stripe = { ...monthly, platform: 'processor_a', priceMicros: 7_990_000, currency: 'GBP' };
const coins = {
  platform: 'store_a',
  productId: 'coins_100',
  type: 'consumable',
  priceMicros: 1_990_000,
  currency: 'USD',
};

/** Half a year of an app: customers of three stores, renewals, a failed payment, a refund, a family. */
const steps: readonly Step[] = [
  { at: '2030-01-08T08:12:00Z', run: async ({ buy }) => await buy('alice', appStore) },
  { at: '2030-01-21T17:40:00Z', run: async ({ buy }) => await buy('bruno', play) },
  { at: '2030-02-02T11:05:00Z', run: async ({ buy }) => await buy('chloe', stripe) },
  {
    at: '2030-02-14T20:31:00Z',
    run: async ({ buy }) => await buy('daniel', { ...appStore, ...yearly, priceMicros: 79_990_000 }),
  },
  { at: '2030-03-03T06:55:00Z', run: async ({ buy }) => await buy('elif', { ...play, trial: 'P7D' }) },
  { at: '2030-03-19T14:22:00Z', run: async ({ buy }) => await buy('farid', appStore) },
  { at: '2030-04-02T09:18:00Z', run: async ({ act }) => await act('farid', 'cancel') },
  { at: '2030-04-09T19:47:00Z', run: async ({ buy }) => await buy('grace', play) },
  { at: '2030-04-28T12:00:00Z', run: async ({ buy }) => await buy('hanna', stripe) },
  { at: '2030-05-06T21:13:00Z', run: async ({ buy }) => await buy('ines', { ...appStore, intro: true }) },
  { at: '2030-05-11T07:30:00Z', run: async ({ act }) => await act('hanna', 'refund') },
  { at: '2030-05-20T16:02:00Z', run: async ({ buy }) => await buy('jonas', play) },
  { at: '2030-05-24T10:44:00Z', run: async ({ buy }) => await buy('alice', coins) },
  { at: '2030-06-03T18:26:00Z', run: async ({ buy }) => await buy('kenji', appStore) },
  { at: '2030-06-09T19:48:00Z', run: async ({ act }) => await act('grace', 'fail-payment') },
  { at: '2030-06-12T08:09:00Z', run: async ({ buy }) => await buy('lucia', { ...play, trial: 'P14D' }) },
  { at: '2030-06-13T13:37:00Z', run: async ({ buy }) => await buy('mehmet', stripe) },
];

/** Loads the same half year of purchases into every local service. Moves its clock to `showcaseTime`. */
export async function loadShowcase(service: LocalService): Promise<void> {
  const showcase = createShowcase(service);
  const moveClock = async (time: string) => {
    await callLocalControl(service, '/clock', { set: time });
    await waitUntilProcessed(service);
  };
  for (const { at, run } of steps) {
    await moveClock(at);
    await run(showcase);
  }
  await moveClock(showcaseTime);
}

/** Waits for notifications and refreshes. A webhook that is retried stays in its queue until the clock moves. */
const waitUntilProcessed = async ({ countQueuedMessages }: LocalService): Promise<unknown> =>
  await waitFor('notifications and refreshes', countQueuedMessages, (counts) =>
    Object.keys(counts).every((queue) => queue === 'webhooks'),
  );

/** Creates the stores' side of a local service: its customers buy, and the stores act. */
export function createShowcase(service: LocalService): Showcase {
  const { baseUrl, appName, publicKey } = service;
  const purchaseIds = new Map<string, string>();
  return {
    async buy(customer, order) {
      const { id, validate } = await callLocalControl(service, '/purchases', {
        ...order,
        applicationUsername: customer,
      });
      purchaseIds.set(customer, id as string);
      const init = { method: 'POST', headers: buildBasicAuth(appName, publicKey), body: JSON.stringify(validate) };
      const { ok, message } = (await (await fetch(`${baseUrl}/v1/validate`, init)).json()) as Json;
      if (ok !== true) throw new Error(`The purchase of ${customer} is rejected: ${message}`);
    },
    async act(customer, action, details = {}) {
      await callLocalControl(service, `/purchases/${purchaseIds.get(customer)}/${action}`, details);
    },
  };
}
