import * as v from 'valibot';
import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import { withoutPlatform } from '../../shared/platform.ts';
import type { ValidationRequest } from '../store.ts';
import type { AccessGrant, StoreContext } from '../store-context.ts';
import { fetchCustomerObservations, fetchObservation, type StripeAccount } from './fetch-observations.ts';
import { fetchSession } from './stripe-queries.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(300));

/** A receipt: the id of something paid, or the token that this service gave to the buyer. */
const Receipt = v.union(
  [v.object({ accessToken: Text, adapter: v.optional(v.picklist(['processor_a', 'stripe'])) }), v.object({ id: Text })],
  'an id, or an accessToken of the adapter processor_a',
);

/** The id that a receipt names, without a platform in front; undefined where it carries a token. */
export function parseReceiptId(transaction: ValidationRequest['transaction']): string | undefined {
  const receipt = parse(v.object({ transaction: Receipt }), { transaction }).transaction;
  return 'id' in receipt ? withoutPlatform(receipt.id) : undefined;
}

/** Everything that the receipt of a validation shows. */
export async function fetchReceiptObservations(
  { transaction }: ValidationRequest,
  context: StoreContext,
  account: StripeAccount,
): Promise<Observation[]> {
  const id = parseReceiptId(transaction);
  if (id === undefined) return await fetchGrantObservations(await requireGrant(transaction, context), account);
  const seen = await fetchObservation(id, account);
  return seen ? [seen] : [];
}

async function requireGrant(
  { accessToken }: ValidationRequest['transaction'],
  context: StoreContext,
): Promise<AccessGrant> {
  const grant = await context.findGrant?.(String(accessToken));
  // A client forgets its token when it reads these very words.
  if (!grant) throw new ServiceError('Forbidden', 'Invalid access token');
  return grant;
}

/** All that the buyer behind a token bought; before a first payment the session alone knows who that is. */
export async function fetchGrantObservations(
  { customer, session, subscription }: AccessGrant,
  account: StripeAccount,
): Promise<Observation[]> {
  const buyer =
    customer ?? (session === undefined ? undefined : (await fetchSession(account.stripe, session)).customer);
  if (buyer) return await fetchCustomerObservations(buyer, account);
  const id = subscription ?? session;
  const seen = id === undefined ? undefined : await fetchObservation(id, account);
  return seen ? [seen] : [];
}
