import type Stripe from 'stripe';

/** Line of an invoice: a period of a subscription item, its proration, or an invoice item. */
export interface InvoiceLineInput {
  /** Id of the subscription item. Undefined for an invoice item that does not belong to one. */
  readonly item?: string | undefined;
  readonly price: Stripe.Price;
  readonly amount: number;
  readonly quantity: number;
  readonly start: number;
  readonly end: number;
  readonly isProration: boolean;
}
