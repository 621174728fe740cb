import type { BraintreeGateway } from 'braintree';
import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { NotificationReason } from '../../notifications/reasons.ts';
import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Asking, Noticed, StoreMessage } from '../store.ts';
import { found, gatewayOf } from './client.ts';
import { PaidTransaction, readObject } from './objects.ts';
import { lookAt } from './refresh.ts';

/** What travels with a message. */
const Content = v.object({
  reason: NotificationReason,
  subscription: v.exactOptional(v.string()),
  /** A payment, or a refund of one. */
  transaction: v.exactOptional(v.string()),
});

type RefreshToken = Readonly<Record<string, string>>;

/** What a notification is about, as the processor shows it now: notifications come in any order, and are older than that. */
export async function noticed({ content }: StoreMessage, asking: Asking): Promise<Noticed> {
  const { reason, subscription, transaction } = parse(Content, content, 'InternalError');
  const gateway = await gatewayOf(asking);
  const token =
    (subscription !== undefined && (await tokenOf(subscription, asking))) ||
    (transaction !== undefined && (await tokenOfPayment(transaction, { gateway, asking })));
  const seen = token && (await ownPurchase(token, { gateway, asking }));
  return { reason, observations: seen ? [seen] : [] };
}

/** Undefined for what the processor has no more, or not for this merchant. */
async function ownPurchase(
  token: RefreshToken,
  { gateway, asking }: { readonly gateway: BraintreeGateway; readonly asking: Asking },
): Promise<Observation | undefined> {
  try {
    return await lookAt(gateway, token, asking);
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'InvalidPayload') return undefined;
    throw thrown;
  }
}

/** Undefined for a purchase of another seller with the same merchant: a validation makes every purchase of ours. */
const tokenOf = async (id: string, { refreshTokenOf }: Asking): Promise<RefreshToken | undefined> =>
  await refreshTokenOf?.(prefixed('processor_b', id));

/** Of the purchase that the payment made, or that it belongs to: its subscription, or the payment that it gives back. */
async function tokenOfPayment(
  id: string,
  { gateway, asking }: { readonly gateway: BraintreeGateway; readonly asking: Asking },
): Promise<RefreshToken | undefined> {
  let name: string | undefined = id;
  // A refund leads to its payment and a payment to its subscription; more steps there are not.
  for (let step = 0; name !== undefined && step < 3; step++) {
    const token = await tokenOf(name, asking);
    if (token) return token;
    const payment: PaidTransaction | undefined = await paymentNamed(gateway, name);
    name = payment?.subscriptionId ?? payment?.refundedTransactionId;
  }
  return undefined;
}

async function paymentNamed(gateway: BraintreeGateway, id: string): Promise<PaidTransaction | undefined> {
  const payment = await found(() => gateway.transaction.find(id));
  return payment && readObject(PaidTransaction, payment);
}
