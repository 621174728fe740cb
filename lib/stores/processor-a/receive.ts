import Stripe from 'stripe';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parseJson } from '../../shared/parse.ts';
import type { RawNotification, ReceivedNotifications } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { toMillis } from './convert.ts';
import { changesPriceList, toNotificationReason } from './notification-reason.ts';
import { parseStoredSettings } from './settings.ts';

/** An event as the processor posts it, as far as it is believed: what it says of its object is looked up again. */
export const StripeEvent = v.object({
  id: v.string(),
  type: v.string(),
  created: v.number(),
  data: v.object({
    object: v.looseObject({ id: v.exactOptional(v.string()), object: v.exactOptional(v.string()) }),
    previous_attributes: v.exactOptional(v.nullable(v.record(v.string(), v.unknown()))),
  }),
});
export type StripeEvent = v.InferOutput<typeof StripeEvent>;

/** A signature is good for this long, and a clock may be off by as much. */
const toleranceSeconds = 300;

/** The message in an event that one of the endpoint's secrets signed. */
export function receive(raw: RawNotification, context: StoreContext): ReceivedNotifications {
  verifySignature(raw, context);
  const event = parseJson(StripeEvent, raw.body);
  const about = findSubjectId(event);
  return {
    notifications: [
      {
        key: event.id,
        type: event.type,
        occurredAt: toMillis(event.created),
        payload: {
          reason: toNotificationReason(event),
          ...(about !== undefined && { about }),
          ...(changesPriceList(event.type) && { pricesChanged: true }),
        },
      },
    ],
  };
}

function verifySignature({ body, headers }: RawNotification, { settings, now }: StoreContext): void {
  const { webhookSecrets = [] } = parseStoredSettings(settings);
  const signature = headers['stripe-signature'] ?? '';
  const signed = webhookSecrets.some((secret) => {
    try {
      return Stripe.webhooks.signature?.verifyHeader(body, signature, secret, toleranceSeconds, undefined, now());
    } catch {
      // Whatever it stumbles over, a signature that could not be verified is none.
      return false;
    }
  });
  if (signed) return;
  const why = webhookSecrets.length === 0 ? 'The settings hold no webhookSecrets.' : 'No secret made this signature.';
  throw new ServiceError('Forbidden', why);
}

const Reference = v.union([
  v.string(),
  v.pipe(
    v.object({ id: v.string() }),
    v.transform(({ id }) => id),
  ),
]);
const Parent = v.object({ subscription_details: v.object({ subscription: Reference }) });

/** What can be looked at to learn of the event: a subscription, session, payment or charge. */
function findSubjectId({ type, data: { object } }: StripeEvent): string | undefined {
  const readId = (field: string): string | undefined => {
    const found = v.safeParse(Reference, object[field]);
    return found.success ? found.output : undefined;
  };
  if (type.startsWith('customer.subscription.') || type.startsWith('checkout.session.')) return object.id;
  if (type.startsWith('payment_intent.')) return object.id;
  if (type.startsWith('invoice.')) {
    const parent = v.safeParse(Parent, object.parent);
    // API versions from before there were parents name it beside them.
    return parent.success ? parent.output.subscription_details.subscription : readId('subscription');
  }
  if (type.startsWith('charge.dispute.') || type.startsWith('refund.') || type === 'charge.refund.updated') {
    return readId('charge') ?? readId('payment_intent');
  }
  return type.startsWith('charge.') ? object.id : undefined;
}
