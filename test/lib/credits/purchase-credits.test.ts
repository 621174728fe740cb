import { describe, expect, it } from '@jest/globals';
import { createAccount, findCredit, getBalance, spendCredits } from '../../../lib/credits/credit-account.ts';
import { listCreditClaims, type PurchaseCredits } from '../../../lib/credits/purchase-credits.ts';
import { settle } from '../../../lib/credits/settlement.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

const { purchase } = createObservation();

/** A payment of the month that begins `month` months after the start. */
const pay = (transactionId: string, month: number, changes: Partial<Transaction> = {}): Transaction =>
  createTransaction(purchase, {
    transactionId,
    purchaseDate: startDate + month * 30 * dayMs,
    expirationDate: startDate + (month + 1) * 30 * dayMs,
    credits: { coins: { perUnit: 30, expires: 'never' } },
    ...changes,
  });

/** A customer whose purchase is settled each time that the store reports its payments. */
class Customer {
  private account = createAccount('ann', false);
  private settled: PurchaseCredits = { purchaseId: 'p', isSandbox: false, owner: 'ann', payments: {}, version: 0 };

  observe(...payments: readonly Transaction[]): number {
    return this.settle(purchase, payments);
  }

  settle(owned: Purchase, payments: readonly Transaction[]): number {
    const state = {
      purchase: owned,
      transactions: payments.map((transaction) => ({ transaction, asOf: startDate, amountAsOf: startDate })),
    };
    const claims = listCreditClaims(state, this.settled.payments);
    const rules = { now: startDate, allowsDebt: false };
    const { account, purchase: settled } = settle(
      { purchase: this.settled, account: this.account, former: undefined },
      claims,
      rules,
    );
    this.account = account;
    this.settled = settled;
    return getBalance(findCredit(account, 'coins'));
  }

  spend(amount: number): void {
    this.account = spendCredits(this.account, 'coins', amount) ?? this.account;
  }
}

const omitPeriod = ({ expirationDate: _end, ...payment }: Transaction): Transaction => payment;

describe('listCreditClaims and settle', () => {
  it('takes back from a payment that no longer pays a period, and gives for the next renewal', () => {
    const customer = new Customer();
    expect(customer.observe(pay('a', 0), pay('b', 1))).toBe(60);
    expect(customer.observe(pay('a', 0), omitPeriod(pay('b', 1)))).toBe(30);
    expect(customer.observe(pay('a', 0), omitPeriod(pay('b', 1)), pay('c', 2))).toBe(60);
    expect(customer.observe(pay('a', 0), pay('b', 1), pay('c', 2))).toBe(90);
  });

  it('gives once for a period, even if an earlier payment of it is seen after the spending', () => {
    const customer = new Customer();
    expect(customer.observe(pay('b', 0))).toBe(30);
    customer.spend(30);
    expect(customer.observe(pay('a', 0), pay('b', 0))).toBe(0);
  });

  it('takes back from a payment that turns out to pay the same period', () => {
    const customer = new Customer();
    expect(customer.observe(pay('a', 0), pay('b', 1))).toBe(60);
    expect(customer.observe(pay('a', 0), pay('b', 0))).toBe(30);
  });

  it('gives once if the store reports the id of the sale later', () => {
    const customer = new Customer();
    expect(customer.observe(pay('a', 0))).toBe(30);
    expect(customer.observe(pay('a', 0, { saleId: 'sale-a' }), pay('b', 1, { saleId: 'sale-b' }))).toBe(60);
    expect(customer.observe(pay('a', 0, { saleId: 'sale-a', refundedAt: startDate }), pay('b', 1))).toBe(30);
  });

  it('gives once if a payment becomes a part of a later transaction', () => {
    const customer = new Customer();
    expect(customer.observe(pay('z', 0, { saleId: 'sale-z' }))).toBe(30);
    expect(customer.observe(pay('a', 0, { saleId: 'sale-a' }), pay('b', 1, { saleId: 'sale-b' }))).toBe(60);
  });

  it('takes back the latest payment only of a consumable that ends with its refund', () => {
    const consumable = createObservation({ productType: 'consumable', transactionId: 'store_c:2' }).purchase;
    const payments = ['store_c:1', 'store_c:2'].map((id) => omitPeriod(pay(id, 0)));
    const customer = new Customer();
    expect(customer.settle(consumable, payments)).toBe(60);
    expect(customer.settle({ ...consumable, endedAt: startDate }, payments)).toBe(30);
  });

  it('takes back whole units for refunded seats', () => {
    const seats = { quantity: 3, credits: { coins: { perUnit: 20, expires: 'never' } } };
    const partialRefunds = [{ id: 'seats', date: startDate, quantity: 1, isSum: true as const }];
    expect(new Customer().observe(pay('a', 0, { ...seats, partialRefunds }))).toBe(14);
  });

  it.each([
    ['a percentage of one of three', 15_000_000, 4_999_950, 2],
    ['a percentage of two of three', 15_000_000, 10_000_050, 1],
    ['an amount of one of three', 10_000_000, 3_330_000, 2],
    ['yen for one of three', 100_000_000, 33_000_000, 2],
    ['a part of the price of one', 15_000_000, 4_000_000, 3],
  ])('takes back whole units of a quantity whose refund the store rounds: %s', (_title, amountMicros, amount, left) => {
    const consumable = createObservation({ productType: 'consumable' }).purchase;
    const partialRefunds = [{ id: '1', date: startDate, amountMicros: amount }];
    const credits = { coins: { perUnit: 1, expires: 'never' } };
    const payment = pay('a', 0, { amountMicros, quantity: 3, credits, partialRefunds });
    expect(new Customer().settle(consumable, [omitPeriod(payment)])).toBe(left);
  });

  it('returns a part of the payment whose refund the store reverses', () => {
    const customer = new Customer();
    const refund = { id: 'prorated', date: startDate, latestDate: startDate, amountMicros: 5_000_000 };
    const payment = { amountMicros: 10_000_000, partialRefunds: [refund] };
    expect(customer.observe(pay('a', 0, payment))).toBe(15);
    const reversed = [{ ...refund, reversedAt: startDate + dayMs }];
    expect(customer.observe(pay('a', 0, { ...payment, partialRefunds: reversed }))).toBe(30);
  });
});
