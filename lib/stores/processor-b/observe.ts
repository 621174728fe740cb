import type { BraintreeGateway } from 'braintree';
import * as v from 'valibot';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { Observation } from '../../purchases/observation.ts';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createGateway, findOrUndefined } from './braintree-client.ts';
import { BraintreeTransaction, parseBraintreeObject } from './payloads.ts';
import { fetchObservation } from './refresh.ts';

/** What travels with a message. */
const NotificationPayload = v.object({
  reason: NotificationReason,
  subscription: v.exactOptional(v.string()),
  /** A payment, or a refund of one. */
  transaction: v.exactOptional(v.string()),
});

type RefreshToken = Readonly<Record<string, string>>;

/** What a notification is about, as the processor shows it now: notifications come in any order, and are older than that. */
export async function observe({ payload }: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const { reason, subscription, transaction } = parse(NotificationPayload, payload, 'InternalError');
  const gateway = await createGateway(context);
  const token =
    (subscription !== undefined && (await findRefreshToken(subscription, context))) ||
    (transaction !== undefined && (await findRefreshTokenOfPayment(transaction, { gateway, asking: context })));
  const observation = token && (await tryFetchOwnPurchase(token, { gateway, asking: context }));
  return { reason, observations: observation ? [observation] : [] };
}

/** Undefined for what the processor has no more, or not for this merchant. */
async function tryFetchOwnPurchase(
  token: RefreshToken,
  { gateway, asking: context }: { readonly gateway: BraintreeGateway; readonly asking: StoreContext },
): Promise<Observation | undefined> {
  try {
    return await fetchObservation(gateway, token, context);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'InvalidPayload') return undefined;
    throw error;
  }
}

/** Undefined for a purchase of another seller with the same merchant: a validation makes every purchase of ours. */
const findRefreshToken = async (id: string, { findRefreshToken }: StoreContext): Promise<RefreshToken | undefined> =>
  await findRefreshToken?.(withPlatform('processor_b', id));

/** Of the purchase that the payment made, or that it belongs to: its subscription, or the payment that it gives back. */
async function findRefreshTokenOfPayment(
  id: string,
  { gateway, asking: context }: { readonly gateway: BraintreeGateway; readonly asking: StoreContext },
): Promise<RefreshToken | undefined> {
  let name: string | undefined = id;
  // A refund leads to its payment and a payment to its subscription; more steps there are not.
  for (let step = 0; name !== undefined && step < 3; step++) {
    const token = await findRefreshToken(name, context);
    if (token) return token;
    const payment: BraintreeTransaction | undefined = await findPayment(gateway, name);
    name = payment?.subscriptionId ?? payment?.refundedTransactionId;
  }
  return undefined;
}

async function findPayment(gateway: BraintreeGateway, id: string): Promise<BraintreeTransaction | undefined> {
  const payment = await findOrUndefined(() => gateway.transaction.find(id));
  return payment && parseBraintreeObject(BraintreeTransaction, payment);
}
