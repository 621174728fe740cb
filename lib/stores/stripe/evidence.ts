import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import { platformTokens, withoutPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { ValidationRequest } from '../store.ts';
import type { AccessGrant, StoreContext } from '../store-context.ts';
import { fetchCustomerObservations, fetchObservations } from './fetch-observations.ts';
import type { StripeAccount } from './stripe-account.ts';
import { fetchSession } from './stripe-queries.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(300));

/** A Stripe id, or an access token that this service issued at checkout. */
const Evidence = v.union(
  [
    v.object({ accessToken: Text, adapter: v.optional(v.picklist([platformTokens.stripe, 'stripe'])) }),
    v.object({ id: Text }),
  ],
  'an id, or an accessToken of the adapter processor_a',
);

/** Returns the Stripe id of the evidence without its platform prefix, or undefined for an access token. */
export function parseEvidenceId(transaction: ValidationRequest['transaction']): string | undefined {
  const evidence = parse(v.object({ transaction: Evidence }), { transaction }).transaction;
  return 'id' in evidence ? withoutPlatform(evidence.id) : undefined;
}

/** Fetches the observations of the purchases that the evidence identifies. */
export async function fetchEvidenceObservations(
  { transaction }: ValidationRequest,
  context: StoreContext,
  account: StripeAccount,
): Promise<Observation[]> {
  const id = parseEvidenceId(transaction);
  if (id === undefined) return await fetchGrantObservations(await requireAccessGrant(transaction, context), account);
  return await fetchObservations(id, account);
}

async function requireAccessGrant(
  { accessToken }: ValidationRequest['transaction'],
  context: StoreContext,
): Promise<AccessGrant> {
  const grant = await context.findAccessGrant?.(String(accessToken));
  // Client libraries discard their token if they receive exactly this message.
  if (!grant) throw new ServiceError('Forbidden', 'Invalid access token');
  return grant;
}

/**
 * Fetches the observations of all purchases of the customer of an access grant. Before the first payment, only the
 * checkout session identifies the customer.
 */
export async function fetchGrantObservations(
  { customer, session, subscription }: AccessGrant,
  account: StripeAccount,
): Promise<Observation[]> {
  const customerId =
    customer ?? (session === undefined ? undefined : (await fetchSession(account.stripe, session)).customer);
  if (customerId) return await fetchCustomerObservations(customerId, account);
  const id = subscription ?? session;
  return id === undefined ? [] : await fetchObservations(id, account);
}
