import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Asking, RawNotification, Received, StoreMessage } from '../store.ts';
import { gatewayOf, isOfType } from './client.ts';
import { reasonOf } from './kinds.ts';

/** A number, text or nothing: the official client leaves numbers that have no type attribute as text. */
const Count = v.nullish(v.pipe(v.union([v.number(), v.string()]), v.transform(Number)));
const Id = v.nullish(v.pipe(v.string(), v.minLength(1)));
const Named = v.nullish(v.object({ id: Id }));

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
  dispute: v.nullish(v.object({ id: Id, transaction: Named })),
});
type Notification = v.InferOutput<typeof Notification>;

/** The message in a notification that the merchant's key signed, or the answer to the processor's challenge. */
export async function received(raw: RawNotification, asking: Asking): Promise<Received> {
  if (raw.method === 'GET') return { messages: [], answer: await answerTo(raw.query.bt_challenge ?? '', asking) };
  return { messages: [messageOf(parse(Notification, await verified(raw.body, asking)))] };
}

/** What the client offers and its types leave out. */
interface Challenged {
  readonly webhookNotification: { readonly verify: (challenge: string) => string };
}

async function answerTo(challenge: string, asking: Asking): Promise<string> {
  const { webhookNotification } = (await gatewayOf(asking)) as unknown as Challenged;
  try {
    return webhookNotification.verify(challenge);
  } catch (cause) {
    throw new ServiceError('Forbidden', 'This is no challenge of the processor.', { cause });
  }
}

async function verified(body: string, asking: Asking): Promise<unknown> {
  const form = new URLSearchParams(body);
  const { webhookNotification } = await gatewayOf(asking);
  try {
    return await webhookNotification.parse(form.get('bt_signature') ?? '', form.get('bt_payload') ?? '');
  } catch (cause) {
    if (isOfType(cause, 'invalidSignatureError')) {
      throw new ServiceError('Forbidden', "The merchant's key did not make this signature.", { cause });
    }
    throw new ServiceError('InvalidPayload', 'The processor signed what cannot be understood.', { cause });
  }
}

function messageOf({ kind, timestamp: at, ...subject }: Notification): StoreMessage {
  const { subscription, transaction, transactionReview, dispute } = subject;
  const about = defined({
    subscription: subscription?.id || transaction?.subscriptionId || undefined,
    transaction: (transaction?.id ?? transactionReview?.transactionId ?? dispute?.transaction?.id) || undefined,
  });
  const { currentBillingCycle, paidThroughDate } = subscription ?? {};
  const id = subscription?.id ?? dispute?.id ?? about.transaction ?? '';
  return {
    // Timestamps are of whole seconds, in which a subscription can be charged twice: the cycle and date tell them apart.
    key: messageKey(kind, id, String(at), String(currentBillingCycle ?? ''), paidThroughDate ?? ''),
    type: kind,
    at,
    content: {
      reason: reasonOf({
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
export const messageKey = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
