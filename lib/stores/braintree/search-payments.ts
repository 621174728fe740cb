import type { BraintreeGateway } from 'braintree';

/**
 * The criteria of a transaction search that this service uses. The types of the package omit them.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/request/transaction/search/node
 */
export interface PaymentSearch {
  readonly customerId: () => { is: (customerId: string) => void };
  readonly orderId: () => { is: (orderId: string) => void };
  readonly type: () => { is: (type: 'credit' | 'sale') => void };
  readonly createdAt: () => { min: (date: string) => void };
  readonly voidedAt: () => { min: (date: string) => void };
}

/** Searches payments and refunds. `setCriteria` sets the criteria, all of which must match. */
export const searchPaymentIds = (
  gateway: BraintreeGateway,
  setCriteria: (search: PaymentSearch) => void,
): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const search = gateway.transaction.search as unknown as (
      setCriteria: (search: PaymentSearch) => void,
      callback: (error: unknown, response?: { readonly ids?: readonly string[] }) => void,
    ) => unknown;
    search.call(gateway.transaction, setCriteria, (error, response) =>
      error ? reject(error) : resolve(response?.ids ?? []),
    );
  });
