import { randomBytes } from 'node:crypto';
import type Stripe from 'stripe';

/** The kinds of objects, by the part of the path that lists them. */
export interface ObjectTypes {
  readonly products: Stripe.Product;
  readonly prices: Stripe.Price;
  readonly customers: Stripe.Customer;
  readonly 'checkout/sessions': Stripe.Checkout.Session;
  readonly subscriptions: Stripe.Subscription;
  readonly invoices: Stripe.Invoice;
  readonly invoice_payments: Stripe.InvoicePayment;
  readonly payment_intents: Stripe.PaymentIntent;
  readonly charges: Stripe.Charge;
  readonly refunds: Stripe.Refund;
  readonly disputes: Stripe.Dispute;
  readonly 'billing_portal/sessions': Stripe.BillingPortal.Session;
}
export type ObjectType = keyof ObjectTypes;

/** What the customer wants of a session beyond what the session itself shows. */
export interface SessionOptions {
  readonly trialDays: number;
  readonly autoRenew: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** All objects of the account, oldest first. */
export interface AccountObjects {
  readonly objects: { readonly [K in ObjectType]: Map<string, ObjectTypes[K]> };
  /** By session. */
  readonly lineItems: Map<string, readonly Stripe.LineItem[]>;
  readonly wishes: Map<string, SessionOptions>;
  /** Subscriptions that renew by themselves. */
  readonly renewing: Set<string>;
  /** Subscriptions whose trial ends without its customer having been reminded yet. */
  readonly pendingTrialReminders: Set<string>;
}

const kinds: readonly ObjectType[] = [
  'products',
  'prices',
  'customers',
  'checkout/sessions',
  'subscriptions',
  'invoices',
  'invoice_payments',
  'payment_intents',
  'charges',
  'refunds',
  'disputes',
  'billing_portal/sessions',
];

/** The books as JSON. */
export interface SavedObjects {
  readonly objects: Readonly<Record<string, readonly (readonly [string, unknown])[]>>;
  readonly lineItems: readonly (readonly [string, unknown])[];
  readonly wishes: readonly (readonly [string, unknown])[];
  readonly renewing: readonly string[];
  readonly toRemind: readonly string[];
}

/** Empty books, or those of an earlier run, which this emulator wrote itself. */
export function createObjects(saved?: SavedObjects): AccountObjects {
  const shelves = kinds.map((kind) => [kind, new Map(saved?.objects[kind])] as const);
  return {
    objects: Object.fromEntries(shelves) as unknown as AccountObjects['objects'],
    lineItems: new Map(saved?.lineItems as Iterable<[string, readonly Stripe.LineItem[]]>),
    wishes: new Map(saved?.wishes as Iterable<[string, SessionOptions]>),
    renewing: new Set(saved?.renewing),
    pendingTrialReminders: new Set(saved?.toRemind),
  };
}

/** The books as `openBooks` takes them again. */
export const toSavedObjects = ({
  objects,
  lineItems,
  wishes,
  renewing,
  pendingTrialReminders,
}: AccountObjects): SavedObjects => ({
  objects: Object.fromEntries(kinds.map((kind) => [kind, [...objects[kind]]])),
  lineItems: [...lineItems],
  wishes: [...wishes],
  renewing: [...renewing],
  toRemind: [...pendingTrialReminders],
});

/** Writes an object down, new or changed, and gives it back. */
export function saveObject<K extends ObjectType>(
  books: AccountObjects,
  kind: K,
  object: ObjectTypes[K],
): ObjectTypes[K] {
  books.objects[kind].set(object.id, object);
  return object;
}

/** The object with that id, which is known to exist. */
export function getObject<K extends ObjectType>(books: AccountObjects, kind: K, id: string): ObjectTypes[K] {
  const object = books.objects[kind].get(id);
  if (object === undefined) throw new Error(`There is no ${id} among the ${kind}`);
  return object;
}

/** The object of any kind with that id. */
export function findObject(books: AccountObjects, id: string): object | undefined {
  for (const kind of kinds) {
    const object = books.objects[kind].get(id);
    if (object !== undefined) return object;
  }
  return undefined;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** An id as the processor makes them: a prefix and 24 letters and digits. */
export const generateId = (prefix: string, length = 24): string =>
  `${prefix}_${[...randomBytes(length)].map((byte) => alphabet[byte % 62]).join('')}`;

/** The id of a reference that may be expanded. */
export const getId = (reference: string | { readonly id: string } | null | undefined): string =>
  typeof reference === 'string' ? reference : (reference?.id ?? '');

/** A whole list as it comes inside of an object. */
export const toApiList = <T>(url: string, data: readonly T[]): Stripe.ApiList<T> => ({
  object: 'list',
  data: [...data],
  has_more: false,
  url,
});
