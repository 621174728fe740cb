import { expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import * as v from 'valibot';
import {
  Charge,
  Dispute,
  Invoice,
  PaymentIntent,
  Price,
  Product,
  Session,
  Subscription,
} from '../../../../lib/stores/stripe/payloads.ts';
import { apiVersion } from '../../../../lib/stores/stripe/stripe-client.ts';
import { describeWithVectors, readVector } from '../../../../testing/vectors.ts';

const schemas = {
  subscription: Subscription,
  invoice: Invoice,
  charge: Charge,
  dispute: Dispute,
  payment_intent: PaymentIntent,
  'checkout.session': Session,
  price: Price,
  product: Product,
};
type Name = keyof typeof schemas;

/** Compiles only if the schemas accept every object of the official types. */
type AcceptedBy<S extends v.GenericSchema, T extends v.InferInput<S>> = T;
type Official = {
  readonly subscription: AcceptedBy<typeof Subscription, Stripe.Subscription>;
  readonly invoice: AcceptedBy<typeof Invoice, Stripe.Invoice>;
  readonly charge: AcceptedBy<typeof Charge, Stripe.Charge>;
  readonly dispute: AcceptedBy<typeof Dispute, Stripe.Dispute>;
  readonly payment_intent: AcceptedBy<typeof PaymentIntent, Stripe.PaymentIntent>;
  readonly 'checkout.session': AcceptedBy<typeof Session, Stripe.Checkout.Session>;
  readonly price: AcceptedBy<typeof Price, Stripe.Price>;
  readonly product: AcceptedBy<typeof Product, Stripe.Product>;
};
const names = Object.keys(schemas) as (Name & keyof Official)[];

it('uses the API version of the official types', () => {
  const version: Stripe.LatestApiVersion = apiVersion;
  expect(version).toMatch(/^\d{4}-\d{2}-\d{2}\.\w+$/);
});

describeWithVectors('payload schemas (Stripe)', () => {
  it.each(names)('accepts the official fixture %s', (name) => {
    const sample = JSON.parse(readVector('stripe', 'fixtures', `${name}.json`).toString('utf8'));
    const result = v.safeParse<v.GenericSchema>(schemas[name], sample);
    expect(result.issues?.map((issue) => v.getDotPath(issue))).toBeUndefined();
    expect(result.output).toMatchObject(name === 'dispute' ? { status: sample.status } : { id: sample.id });
  });
});
