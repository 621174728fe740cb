import { randomBytes } from 'node:crypto';
import type Stripe from 'stripe';
import type { InvoiceLineInput } from './invoice-line-input.ts';

/** Object types by their path in the API. */
export interface ObjectTypes {
  readonly products: Stripe.Product;
  readonly prices: Stripe.Price;
  /** Empty: discounts of the emulator contain their coupons. */
  readonly coupons: Stripe.Coupon;
  readonly customers: Stripe.Customer;
  readonly 'checkout/sessions': Stripe.Checkout.Session;
  readonly subscriptions: Stripe.Subscription;
  readonly subscription_schedules: Stripe.SubscriptionSchedule;
  readonly invoices: Stripe.Invoice;
  readonly invoice_payments: Stripe.InvoicePayment;
  readonly payment_intents: Stripe.PaymentIntent;
  readonly charges: Stripe.Charge;
  readonly refunds: Stripe.Refund;
  readonly disputes: Stripe.Dispute;
  readonly credit_notes: Stripe.CreditNote;
  /** Payments outside of Stripe. */
  readonly payment_records: Stripe.PaymentRecord;
  /** Transactions of debits that failed after days. */
  readonly balance_transactions: Stripe.BalanceTransaction;
  readonly tax_rates: Stripe.TaxRate;
  readonly 'billing_portal/sessions': Stripe.BillingPortal.Session;
}
export type ObjectType = keyof ObjectTypes;

/** Options of a checkout session that the API object does not show. */
export interface SessionOptions {
  readonly trialDays: number;
  readonly autoRenew: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** Country of the address that the customer enters. Default: `US`. */
  readonly country?: string;
  /** Id of the tax rate. */
  readonly taxRate?: string;
  /** The payment is authorized only. */
  readonly isAuthorized?: true;
}

/** All objects of an account, oldest first. */
export interface AccountObjects {
  readonly objects: { readonly [K in ObjectType]: Map<string, ObjectTypes[K]> };
  /** Line items by checkout session id. */
  readonly lineItems: Map<string, readonly Stripe.LineItem[]>;
  /** Options by checkout session id. */
  readonly sessionOptions: Map<string, SessionOptions>;
  /** Ids of subscriptions that renew automatically. */
  readonly autoRenewing: Set<string>;
  /** Ids of subscriptions without a `trial_will_end` event yet. */
  readonly pendingTrialReminders: Set<string>;
  /** Units that were used since the last invoice, by subscription item id. */
  readonly usage: Map<string, number>;
  /** Invoice items that the next invoice of a subscription bills, by its id, oldest first. */
  readonly pendingLines: Map<string, readonly InvoiceLineInput[]>;
  /** Times at which a bank confirmed a charge that took days, by charge id. The API does not return them. */
  readonly confirmedAt: Map<string, number>;
  /** Ids of emailed invoices whose due date has not passed yet. */
  readonly pendingDueDates: Set<string>;
}

const objectTypes: readonly ObjectType[] = [
  'products',
  'prices',
  'coupons',
  'customers',
  'checkout/sessions',
  'subscriptions',
  'subscription_schedules',
  'invoices',
  'invoice_payments',
  'payment_intents',
  'charges',
  'refunds',
  'disputes',
  'credit_notes',
  'payment_records',
  'balance_transactions',
  'tax_rates',
  'billing_portal/sessions',
];

/** The objects as JSON. */
export interface SavedObjects {
  readonly objects: Readonly<Record<string, readonly (readonly [string, unknown])[]>>;
  readonly lineItems: readonly (readonly [string, unknown])[];
  readonly sessionOptions: readonly (readonly [string, unknown])[];
  readonly autoRenewing: readonly string[];
  readonly pendingTrialReminders: readonly string[];
  readonly pendingDueDates?: readonly string[];
  readonly usage?: readonly (readonly [string, unknown])[];
  readonly confirmedAt?: readonly (readonly [string, unknown])[];
  readonly pendingLines?: readonly (readonly [string, unknown])[];
}

/** Creates empty objects, or restores saved objects. */
export function createObjects(saved?: SavedObjects): AccountObjects {
  const entries = objectTypes.map((type) => [type, new Map(saved?.objects[type])] as const);
  return {
    objects: Object.fromEntries(entries) as unknown as AccountObjects['objects'],
    lineItems: new Map(saved?.lineItems as Iterable<[string, readonly Stripe.LineItem[]]>),
    sessionOptions: new Map(saved?.sessionOptions as Iterable<[string, SessionOptions]>),
    autoRenewing: new Set(saved?.autoRenewing),
    pendingTrialReminders: new Set(saved?.pendingTrialReminders),
    pendingDueDates: new Set(saved?.pendingDueDates),
    usage: new Map(saved?.usage as Iterable<[string, number]>),
    confirmedAt: new Map(saved?.confirmedAt as Iterable<[string, number]>),
    pendingLines: new Map(saved?.pendingLines as Iterable<[string, readonly InvoiceLineInput[]]>),
  };
}

/** Converts the objects to the format that `createObjects` restores. */
export const toSavedObjects = ({
  objects,
  lineItems,
  sessionOptions,
  autoRenewing,
  pendingTrialReminders,
  pendingDueDates,
  usage,
  confirmedAt,
  pendingLines,
}: AccountObjects): SavedObjects => ({
  objects: Object.fromEntries(objectTypes.map((type) => [type, [...objects[type]]])),
  lineItems: [...lineItems],
  sessionOptions: [...sessionOptions],
  autoRenewing: [...autoRenewing],
  pendingTrialReminders: [...pendingTrialReminders],
  pendingDueDates: [...pendingDueDates],
  usage: [...usage],
  confirmedAt: [...confirmedAt],
  pendingLines: [...pendingLines],
});

/** Saves a new or changed object and returns it. */
export function saveObject<K extends ObjectType>(
  records: AccountObjects,
  type: K,
  object: ObjectTypes[K],
): ObjectTypes[K] {
  records.objects[type].set(object.id, object);
  return object;
}

/** Returns an object that must exist. */
export function getObject<K extends ObjectType>(records: AccountObjects, type: K, id: string): ObjectTypes[K] {
  const object = records.objects[type].get(id);
  if (object === undefined) throw new Error(`${id} is not found in ${type}`);
  return object;
}

/** Finds an object of any type by id. */
export function findObject(records: AccountObjects, id: string): object | undefined {
  for (const type of objectTypes) {
    const object = records.objects[type].get(id);
    if (object !== undefined) return object;
  }
  return undefined;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Generates an id in the format of Stripe: a prefix and letters and digits. */
export const generateId = (prefix: string, length = 24): string =>
  `${prefix}_${[...randomBytes(length)].map((byte) => alphabet[byte % 62]).join('')}`;

/** Returns the id of a reference, expanded or not. */
export const getId = (reference: string | { readonly id: string } | null | undefined): string =>
  typeof reference === 'string' ? reference : (reference?.id ?? '');

/** Wraps all elements as a list object of one page. */
export const toApiList = <T>(url: string, data: readonly T[]): Stripe.ApiList<T> => ({
  object: 'list',
  data: [...data],
  has_more: false,
  url,
});
