import type { CustomerSpend } from '../customers/contract.ts';
import type { Service } from '../foundation/service.ts';
import { toAmountUsd } from '../money/usd-conversion.ts';
import { listOwnedTransactions } from '../purchases/owned-purchase-table.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';

const maxTransactions = 100;

/** Sums the latest payments of a customer in US dollars, less their refunds, without sandbox purchases. */
export async function readSpend(service: Service, appName: string, username: string): Promise<CustomerSpend> {
  const transactions = await listOwnedTransactions(service, appName, username, { skip: 0, limit: maxTransactions });
  const paid = transactions.filter(({ sandbox, isPending }) => !sandbox && !isPending);
  const cents = paid.reduce((sum, transaction) => sum + Math.round(getNetUsd(transaction) * 100), 0);
  return { amountUSD: cents / 100, isComplete: transactions.length < maxTransactions };
}

const getNetUsd = (transaction: Transaction): number =>
  listRefundedAmounts(transaction).reduce((sum, { amountUsd = 0 }) => sum - amountUsd, toAmountUsd(transaction) ?? 0);
