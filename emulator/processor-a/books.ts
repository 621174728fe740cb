import { randomBytes } from 'node:crypto';
import type Stripe from 'stripe';

/** The kinds of objects, by the part of the path that lists them. */
export interface Kinds {
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
export type Kind = keyof Kinds;

/** What the customer wants of a session beyond what the session itself shows. */
export interface Wish {
  readonly trialDays: number;
  readonly autoRenew: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** All objects of the account, oldest first. */
export interface Books {
  readonly objects: { readonly [K in Kind]: Map<string, Kinds[K]> };
  /** By session. */
  readonly lineItems: Map<string, readonly Stripe.LineItem[]>;
  readonly wishes: Map<string, Wish>;
  /** Subscriptions that renew by themselves. */
  readonly renewing: Set<string>;
  /** Subscriptions whose trial ends without its customer having been reminded yet. */
  readonly toRemind: Set<string>;
}

const kinds: readonly Kind[] = [
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
export interface SavedBooks {
  readonly objects: Readonly<Record<string, readonly (readonly [string, unknown])[]>>;
  readonly lineItems: readonly (readonly [string, unknown])[];
  readonly wishes: readonly (readonly [string, unknown])[];
  readonly renewing: readonly string[];
  readonly toRemind: readonly string[];
}

/** Empty books, or those of an earlier run, which this emulator wrote itself. */
export function openBooks(saved?: SavedBooks): Books {
  const shelves = kinds.map((kind) => [kind, new Map(saved?.objects[kind])] as const);
  return {
    objects: Object.fromEntries(shelves) as unknown as Books['objects'],
    lineItems: new Map(saved?.lineItems as Iterable<[string, readonly Stripe.LineItem[]]>),
    wishes: new Map(saved?.wishes as Iterable<[string, Wish]>),
    renewing: new Set(saved?.renewing),
    toRemind: new Set(saved?.toRemind),
  };
}

/** The books as `openBooks` takes them again. */
export const savedBooks = ({ objects, lineItems, wishes, renewing, toRemind }: Books): SavedBooks => ({
  objects: Object.fromEntries(kinds.map((kind) => [kind, [...objects[kind]]])),
  lineItems: [...lineItems],
  wishes: [...wishes],
  renewing: [...renewing],
  toRemind: [...toRemind],
});

/** Writes an object down, new or changed, and gives it back. */
export function enter<K extends Kind>(books: Books, kind: K, object: Kinds[K]): Kinds[K] {
  books.objects[kind].set(object.id, object);
  return object;
}

/** The object with that id, which is known to exist. */
export function objectNamed<K extends Kind>(books: Books, kind: K, id: string): Kinds[K] {
  const object = books.objects[kind].get(id);
  if (object === undefined) throw new Error(`There is no ${id} among the ${kind}`);
  return object;
}

/** The object of any kind with that id. */
export function anyObject(books: Books, id: string): object | undefined {
  for (const kind of kinds) {
    const object = books.objects[kind].get(id);
    if (object !== undefined) return object;
  }
  return undefined;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** An id as the processor makes them: a prefix and 24 letters and digits. */
export const newId = (prefix: string, length = 24): string =>
  `${prefix}_${[...randomBytes(length)].map((byte) => alphabet[byte % 62]).join('')}`;

/** The id of a reference that may be expanded. */
export const idOf = (reference: string | { readonly id: string } | null | undefined): string =>
  typeof reference === 'string' ? reference : (reference?.id ?? '');

/** A whole list as it comes inside of an object. */
export const wholeList = <T>(url: string, data: readonly T[]): Stripe.ApiList<T> => ({
  object: 'list',
  data: [...data],
  has_more: false,
  url,
});
