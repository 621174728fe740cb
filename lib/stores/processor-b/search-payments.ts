import type { BraintreeGateway } from 'braintree';

/** The criteria of a search for payments that this service uses; the client's types leave them untyped. */
export interface PaymentSearch {
  readonly orderId: () => { is: (orderId: string) => void };
  readonly type: () => { is: (type: 'credit' | 'sale') => void };
  readonly createdAt: () => { min: (moment: string) => void };
  readonly voidedAt: () => { min: (moment: string) => void };
}

/** The ids of the payments, and refunds, that fit the criteria. */
export const searchPaymentIds = (
  gateway: BraintreeGateway,
  fill: (search: PaymentSearch) => void,
): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const search = gateway.transaction.search as unknown as (
      fill: (search: PaymentSearch) => void,
      done: (error: unknown, response?: { readonly ids?: readonly string[] }) => void,
    ) => unknown;
    search.call(gateway.transaction, fill, (error, response) => (error ? reject(error) : resolve(response?.ids ?? [])));
  });
