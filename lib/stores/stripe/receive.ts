import Stripe from 'stripe';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/parse.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import type { RawNotification, ReceivedNotifications } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { Reference } from './lenient-schemas.ts';
import { toMillis } from './money.ts';
import { changesPriceList, revertsCancelation, toNotificationReason } from './notification-reason.ts';
import { StripeEvent } from './payloads.ts';
import { parseStoredSettings } from './settings.ts';

/** Maximum age of a signature, and maximum clock skew. Stripe's own default. */
const toleranceSeconds = 300;

/** Verifies an event and extracts its notification. Throws `Forbidden` if no webhook secret matches the signature. */
export function receive(raw: RawNotification, context: StoreContext): ReceivedNotifications {
  verifySignature(raw, context);
  const event = parseJson(StripeEvent, raw.body);
  const subjectId = findSubjectId(event);
  return {
    notifications: [
      {
        key: event.id,
        type: event.type,
        occurredAt: toMillis(event.created),
        payload: {
          reason: toNotificationReason(event),
          ...(revertsCancelation(event) && { renewsSince: toMillis(event.created) }),
          ...(subjectId !== undefined && { subjectId }),
          ...(changesPriceList(event.type) && { pricesChanged: true }),
        },
      },
    ],
  };
}

/** @see https://docs.stripe.com/webhooks/signatures */
function verifySignature({ body, headers }: RawNotification, { settings, now }: StoreContext): void {
  const { webhookSecrets = [] } = parseStoredSettings(settings);
  const signature = headers['stripe-signature'] ?? '';
  const isSigned = webhookSecrets.some((secret) => {
    if (!isOfCurrentTime(signature, now())) return false;
    try {
      return Stripe.webhooks.signature?.verifyHeader(body, signature, secret, toleranceSeconds, undefined, now());
    } catch {
      // Any error means that the signature cannot be verified.
      return false;
    }
  });
  if (isSigned) return;
  const problem =
    webhookSecrets.length === 0 ? 'webhookSecrets in the settings is missing.' : 'The signature is invalid.';
  throw new ServiceError('Forbidden', problem);
}

/**
 * The header needs one time, a whole number of seconds within the tolerance. The official client reads it with
 * `parseInt` and only rejects an old one: it accepts `t=NaN` and any future time.
 */
function isOfCurrentTime(signature: string, now: EpochMillis): boolean {
  const [time, ...others] = signature.split(',').filter((part) => part.startsWith('t='));
  const seconds = /^t=(\d{1,12})$/.exec(time ?? '')?.[1];
  return others.length === 0 && Math.abs(now / secondMs - Number(seconds)) <= toleranceSeconds;
}

const Parent = v.object({ subscription_details: v.object({ subscription: Reference }) });

/** Finds the id of the subscription, checkout session, payment intent or charge that an event concerns. */
function findSubjectId({ type, data: { object } }: StripeEvent): string | undefined {
  const readId = (field: string): string | undefined => {
    const result = v.safeParse(Reference, object[field]);
    return result.success ? result.output : undefined;
  };
  if (type.startsWith('customer.subscription.') || type.startsWith('checkout.session.')) return object.id;
  if (type.startsWith('payment_intent.')) return object.id;
  if (type.startsWith('invoice.')) {
    // A thin event has the id of the invoice only.
    if (object.isReference === true) return object.id;
    const parent = v.safeParse(Parent, object.parent);
    // API versions before `parent` have the subscription as a member of the invoice.
    return parent.success ? parent.output.subscription_details.subscription : readId('subscription');
  }
  if (/^(?:credit_note|invoice_payment)\./.test(type)) return readId('invoice');
  if (type.startsWith('charge.dispute.') || type.startsWith('refund.') || type === 'charge.refund.updated') {
    return readId('charge') ?? readId('payment_intent');
  }
  return type.startsWith('charge.') ? object.id : undefined;
}
