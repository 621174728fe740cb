import type { BraintreeGateway } from 'braintree';
import * as v from 'valibot';
import { parse } from '../../foundation/parse.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { tryFetchOwnPurchase } from '../try-fetch-own-purchase.ts';
import { createGateway, findOrUndefined } from './braintree-client.ts';
import { BraintreeTransaction, parseBraintreeObject } from './payloads.ts';
import { fetchObservations } from './refresh.ts';

/** Payload of a queued notification, as `receive` and `listUndelivered` create it. */
const NotificationPayload = v.object({
  reason: NotificationReason,
  subscription: v.exactOptional(v.string()),
  /** Id of a payment or a refund. */
  transaction: v.exactOptional(v.string()),
});

type RefreshToken = Readonly<Record<string, string>>;

/**
 * Fetches the current state of the purchase of a notification. Braintree does not deliver notifications in order, so
 * their snapshots can be stale.
 *
 * @see https://developer.paypal.com/braintree/docs/guides/webhooks/parse/node
 */
export async function observe({ payload }: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const { reason, subscription, transaction } = parse(NotificationPayload, payload, 'InternalError');
  const gateway = await createGateway(context);
  const ofSubscription = subscription === undefined ? undefined : await findRefreshToken(subscription, context);
  const subject = ofSubscription
    ? { token: ofSubscription }
    : transaction !== undefined && (await findSubject(transaction, gateway, context));
  const observations =
    subject &&
    (await tryFetchOwnPurchase(
      async () =>
        await fetchObservations(
          gateway,
          subject.token,
          context,
          'paymentId' in subject ? subject.paymentId : undefined,
        ),
    ));
  if (observations) return { reason, observations };
  // The notification of a purchase can arrive before its validation has stored it.
  const unknownPurchaseId = subscription && withPlatform(platformTokens.braintree, subscription);
  return { reason, observations: [], ...(unknownPurchaseId && { unknownPurchaseId }) };
}

/**
 * Finds the stored refresh token of a payment or subscription. Returns undefined for purchases of other systems with
 * the same merchant account: this service creates all of its purchases in a validation.
 */
const findRefreshToken = async (id: string, { findRefreshToken }: StoreContext): Promise<RefreshToken | undefined> =>
  await findRefreshToken?.(withPlatform(platformTokens.braintree, id));

/** A refund refers to its payment, and a payment to its subscription. */
const maxReferences = 3;

interface Subject {
  readonly token: RefreshToken;
  /** The payment of a subscription. The subscription contains only the latest ones. */
  readonly paymentId?: string;
}

/** Finds the purchase of a payment or refund. */
async function findSubject(
  notifiedId: string,
  gateway: BraintreeGateway,
  context: StoreContext,
): Promise<Subject | undefined> {
  let id: string | undefined = notifiedId;
  let paymentId: string | undefined;
  for (let step = 0; id !== undefined && step < maxReferences; step++) {
    const token = await findRefreshToken(id, context);
    if (token) return { token, ...(paymentId !== undefined && { paymentId }) };
    const payment: BraintreeTransaction | undefined = await findPayment(gateway, id);
    paymentId = id;
    id = payment?.refundedTransactionId ?? payment?.subscriptionId;
  }
  return undefined;
}

async function findPayment(gateway: BraintreeGateway, id: string): Promise<BraintreeTransaction | undefined> {
  const payment = await findOrUndefined(() => gateway.transaction.find(id));
  return payment && parseBraintreeObject(BraintreeTransaction, payment);
}
