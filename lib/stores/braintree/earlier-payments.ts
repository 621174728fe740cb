import type { BraintreeGateway } from 'braintree';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree } from './braintree-client.ts';
import type { BraintreeTransaction, Subscription } from './payloads.ts';
import { searchPaymentIds } from './search-payments.ts';

/**
 * Number of payments that a subscription contains: the latest ones.
 * @see https://developer.paypal.com/braintree/docs/reference/response/subscription/node
 */
export const maxEmbeddedPayments = 20;

interface EarlierPaymentsContext {
  readonly listTransactions: StoreContext['listTransactions'] | undefined;
  readonly gateway: BraintreeGateway;
  readonly fetchPayment: (id: string) => Promise<BraintreeTransaction>;
}

/**
 * Fetches the payments that a subscription has had before those that it contains. Not needed if the table has one of
 * the contained ones: it was recorded with those before it.
 */
export async function fetchEarlierPayments(
  { id, transactions, firstBillingDate }: Subscription,
  { gateway, fetchPayment, listTransactions }: EarlierPaymentsContext,
): Promise<BraintreeTransaction[]> {
  const oldest = [...transactions].sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))[0];
  const customerId = oldest?.customer?.id;
  const isFirst = (oldest?.subscription?.billingPeriodStartDate ?? firstBillingDate) <= firstBillingDate;
  if (!oldest || customerId === undefined || (isFirst && transactions.length < maxEmbeddedPayments)) return [];
  const stored = (await listTransactions?.(withPlatform(platformTokens.braintree, id))) ?? [];
  const storedIds = new Set(stored.map(({ transactionId }) => withoutPlatform(transactionId)));
  if (storedIds.has(oldest.id)) return [];
  const found = await callBraintree(() =>
    searchPaymentIds(gateway, (search) => {
      search.customerId().is(customerId);
      search.type().is('sale');
    }),
  );
  const contained = new Set(transactions.map((payment) => payment.id));
  const missing = found.filter((paymentId) => !contained.has(paymentId) && !storedIds.has(paymentId));
  const payments = await Promise.all(missing.map(async (paymentId) => await fetchPayment(paymentId)));
  return payments.filter(({ subscriptionId }) => subscriptionId === id);
}
