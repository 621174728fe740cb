import type { Observation } from '../../purchases/observation.ts';
import type { StoreContext } from '../store-context.ts';
import { fetchObservations } from './fetch-observations.ts';
import type { StripePlatform } from './mapping-context.ts';
import { openStripeAccount } from './stripe-account.ts';
import { callStripe } from './stripe-client.ts';

/** Fetches the current state of the object in a refresh token. Returns an empty array if it was never paid. */
export async function refresh(
  { id = '' }: Readonly<Record<string, string>>,
  context: StoreContext,
  platform: StripePlatform,
): Promise<Observation[]> {
  return await callStripe(() => fetchObservations(id, openStripeAccount(platform, context)));
}
