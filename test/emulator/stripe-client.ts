import Stripe from 'stripe';
import type { EmulatorClient } from './emulator-client.ts';

/** The emulated account as its owner uses it, through the official client. */
export function ownerOf(user: EmulatorClient, secretKey = String(user.settings('processor_a').secretKey)): Stripe {
  const fetchFromEmulator: typeof fetch = async (url, init) => {
    const { host, pathname, search } = new URL(String(url));
    return await fetch(`${user.url}/${host}${pathname}${search}`, init);
  };
  return new Stripe(secretKey, { httpClient: Stripe.createFetchHttpClient(fetchFromEmulator), maxNetworkRetries: 0 });
}

/** Buys a monthly subscription, or what `order` says; gives the purchase as the control API shows it. */
export async function boughtFrom(user: EmulatorClient, order: object = {}) {
  const { status, body } = await user.buy({ platform: 'processor_a', productId: 'plan', ...order });
  if (status !== 200) throw new Error(body.message);
  return body;
}
