import { expect, it, test } from '@jest/globals';
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
} from '../../../../lib/stores/processor-a/payloads.ts';
import { apiVersion } from '../../../../lib/stores/processor-a/stripe-client.ts';
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

/** Compiles only while every object of the official types is one that the adapter can read. */
type Reads<S extends v.GenericSchema, T extends v.InferInput<S>> = T;
type Official = {
  readonly subscription: Reads<typeof Subscription, Stripe.Subscription>;
  readonly invoice: Reads<typeof Invoice, Stripe.Invoice>;
  readonly charge: Reads<typeof Charge, Stripe.Charge>;
  readonly dispute: Reads<typeof Dispute, Stripe.Dispute>;
  readonly payment_intent: Reads<typeof PaymentIntent, Stripe.PaymentIntent>;
  readonly 'checkout.session': Reads<typeof Session, Stripe.Checkout.Session>;
  readonly price: Reads<typeof Price, Stripe.Price>;
  readonly product: Reads<typeof Product, Stripe.Product>;
};
const names = Object.keys(schemas) as (Name & keyof Official)[];

it('asks for the version of the API that the types are of', () => {
  const version: Stripe.LatestApiVersion = apiVersion;
  expect(version).toMatch(/^\d{4}-\d{2}-\d{2}\.\w+$/);
});

describeWithVectors('the official sample of each object', () => {
  test.each(names)('%s can be read', (name) => {
    const sample = JSON.parse(readVector('stripe', 'fixtures', `${name}.json`).toString('utf8'));
    const result = v.safeParse<v.GenericSchema>(schemas[name], sample);
    expect(result.issues?.map((issue) => v.getDotPath(issue))).toBeUndefined();
    expect(result.output).toMatchObject(name === 'dispute' ? { status: sample.status } : { id: sample.id });
  });
});
