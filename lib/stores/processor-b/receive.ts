import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { parse } from '../../shared/parse.ts';
import type { RawNotification, ReceivedNotifications, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createGateway, isBraintreeError } from './braintree-client.ts';
import { toNotificationReason } from './notification-reason.ts';

/** A number, text or nothing: the official client leaves numbers that have no type attribute as text. */
const Count = v.nullish(v.pipe(v.union([v.number(), v.string()]), v.transform(Number)));
const Id = v.nullish(v.pipe(v.string(), v.minLength(1)));
const Reference = v.nullish(v.object({ id: Id }));

/** A notification as the official client reads it, as far as it is believed: what it is about is looked up again. */
const Notification = v.object({
  kind: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  timestamp: v.pipe(
    v.string(),
    v.transform((text) => Date.parse(text)),
    v.number(),
  ),
  subscription: v.nullish(v.object({ id: Id, currentBillingCycle: Count, paidThroughDate: v.nullish(v.string()) })),
  transaction: v.nullish(v.object({ id: Id, subscriptionId: v.nullish(v.string()) })),
  transactionReview: v.nullish(v.object({ transactionId: Id })),
  dispute: v.nullish(v.object({ id: Id, transaction: Reference })),
});
type Notification = v.InferOutput<typeof Notification>;

/** The message in a notification that the merchant's key signed, or the answer to the processor's challenge. */
export async function receive(raw: RawNotification, context: StoreContext): Promise<ReceivedNotifications> {
  if (raw.method === 'GET')
    return { notifications: [], responseText: await answerChallenge(raw.query.bt_challenge ?? '', context) };
  return { notifications: [toNotification(parse(Notification, await verifyNotification(raw.body, context)))] };
}

/** What the client offers and its types leave out. */
interface ChallengeGateway {
  readonly webhookNotification: { readonly verify: (challenge: string) => string };
}

async function answerChallenge(challenge: string, context: StoreContext): Promise<string> {
  const { webhookNotification } = (await createGateway(context)) as unknown as ChallengeGateway;
  try {
    return webhookNotification.verify(challenge);
  } catch (cause) {
    throw new ServiceError('Forbidden', 'This is no challenge of the processor.', { cause });
  }
}

async function verifyNotification(body: string, context: StoreContext): Promise<unknown> {
  const form = new URLSearchParams(body);
  const { webhookNotification } = await createGateway(context);
  try {
    return await webhookNotification.parse(form.get('bt_signature') ?? '', form.get('bt_payload') ?? '');
  } catch (cause) {
    if (isBraintreeError(cause, 'invalidSignatureError')) {
      throw new ServiceError('Forbidden', "The merchant's key did not make this signature.", { cause });
    }
    throw new ServiceError('InvalidPayload', 'The processor signed what cannot be understood.', { cause });
  }
}

function toNotification({ kind, timestamp: at, ...subject }: Notification): StoreNotification {
  const { subscription, transaction, transactionReview, dispute } = subject;
  const about = omitUndefined({
    subscription: subscription?.id || transaction?.subscriptionId || undefined,
    transaction: (transaction?.id ?? transactionReview?.transactionId ?? dispute?.transaction?.id) || undefined,
  });
  const { currentBillingCycle, paidThroughDate } = subscription ?? {};
  const id = subscription?.id ?? dispute?.id ?? about.transaction ?? '';
  return {
    // Timestamps are of whole seconds, in which a subscription can be charged twice: the cycle and date tell them apart.
    key: deriveNotificationKey(kind, id, String(at), String(currentBillingCycle ?? ''), paidThroughDate ?? ''),
    type: kind,
    occurredAt: at,
    payload: {
      reason: toNotificationReason({
        kind,
        at,
        currentBillingCycle: currentBillingCycle ?? undefined,
        paidThroughDate: paidThroughDate ?? undefined,
      }),
      ...about,
    },
  };
}

/** The processor numbers no notifications: the same for one that is sent, or signed, again. */
export const deriveNotificationKey = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
