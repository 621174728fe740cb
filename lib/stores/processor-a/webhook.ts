import Stripe from 'stripe';
import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { parseJson } from '../../parse.ts';
import type { Asking, RawNotification, Received } from '../store.ts';
import { millis } from './defined.ts';
import { pricesChangedBy, reasonOf } from './event-reasons.ts';
import { settingsOf } from './settings.ts';

/** An event as the processor posts it, as far as it is believed: what it says of its object is looked up again. */
export const WebhookEvent = v.object({
  id: v.string(),
  type: v.string(),
  created: v.number(),
  data: v.object({
    object: v.looseObject({ id: v.exactOptional(v.string()), object: v.exactOptional(v.string()) }),
    previous_attributes: v.exactOptional(v.nullable(v.record(v.string(), v.unknown()))),
  }),
});
export type WebhookEvent = v.InferOutput<typeof WebhookEvent>;

/** A signature is good for this long, and a clock may be off by as much. */
const toleranceSeconds = 300;

/** The message in an event that one of the endpoint's secrets signed. */
export function receivedEvent(raw: RawNotification, asking: Asking): Received {
  verify(raw, asking);
  const event = parseJson(WebhookEvent, raw.body);
  const about = aboutOf(event);
  return {
    messages: [
      {
        key: event.id,
        type: event.type,
        at: millis(event.created),
        content: {
          reason: reasonOf(event),
          ...(about !== undefined && { about }),
          ...(pricesChangedBy(event.type) && { pricesChanged: true }),
        },
      },
    ],
  };
}

function verify({ body, headers }: RawNotification, { settings, now }: Asking): void {
  const { webhookSecrets = [] } = settingsOf(settings);
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
function aboutOf({ type, data: { object } }: WebhookEvent): string | undefined {
  const idIn = (field: string): string | undefined => {
    const found = v.safeParse(Reference, object[field]);
    return found.success ? found.output : undefined;
  };
  if (type.startsWith('customer.subscription.') || type.startsWith('checkout.session.')) return object.id;
  if (type.startsWith('payment_intent.')) return object.id;
  if (type.startsWith('invoice.')) {
    const parent = v.safeParse(Parent, object.parent);
    // API versions from before there were parents name it beside them.
    return parent.success ? parent.output.subscription_details.subscription : idIn('subscription');
  }
  if (type.startsWith('charge.dispute.') || type.startsWith('refund.') || type === 'charge.refund.updated') {
    return idIn('charge') ?? idIn('payment_intent');
  }
  return type.startsWith('charge.') ? object.id : undefined;
}
