import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAccount, findCredit, getBalance, spendCredits } from '../../../lib/credits/credit-account.ts';
import type { CreditClaim, PurchaseCredits } from '../../../lib/credits/purchase-credits.ts';
import { isSettled, settle } from '../../../lib/credits/settlement.ts';
import { sampleRuns } from '../../../testing/sample.ts';

const purchase: PurchaseCredits = { purchaseId: 'store_a:1', isSandbox: false, owner: 'ann', payments: {}, version: 0 };
const ann = createAccount('ann', false);

const claim = (paymentId: string, given: number, demanded = 0): CreditClaim => ({
  paymentId,
  transactionId: paymentId,
  credit: 'coins',
  givenAt: 0,
  given,
  expiresAt: undefined,
  demanded,
});

describe('what a purchase gives', () => {
  it('is settled after it was given', () => {
    const claims = [claim('a', 10), claim('b', 20)];
    const settlement = settle({ purchase, account: ann, former: undefined }, claims, { now: 1, allowsDebt: false });
    expect(settlement.entries.map(({ type, amount }) => [type, amount])).toEqual([
      ['given', 10],
      ['given', 20],
    ]);
    expect(isSettled(settlement.purchase, claims, 'ann')).toBe(true);
    expect(isSettled(settlement.purchase, [claim('a', 10), claim('b', 20, 1)], 'ann')).toBe(false);
  });

  it('is given once if the store reports the final id of a payment later', () => {
    const given = settle({ purchase, account: ann, former: undefined }, [claim('early', 10)], {
      now: 1,
      allowsDebt: false,
    });
    const renamed = settle({ ...given, former: undefined }, [claim('final', 10, 4)], { now: 2, allowsDebt: false });
    expect(findCredit(renamed.account, 'coins')).toMatchObject({ granted: 10, takenBack: 4 });
  });

  it('goes to a new owner as if the refund before the move had been made after it', () => {
    const rules = { now: 1, allowsDebt: false };
    const bob = createAccount('bob', false);
    const own = (demanded: number) => {
      const given = settle({ purchase, account: ann, former: undefined }, [claim('a', 20, demanded)], rules);
      return settle({ ...given, account: bob, former: given.account }, [claim('a', 20, demanded)], rules);
    };
    const readBalance = (owned: ReturnType<typeof own>, demanded: number) =>
      findCredit(settle({ ...owned, former: undefined }, [claim('a', 20, demanded)], rules).account, 'coins');
    const refunded = own(20);
    expect(isSettled(refunded.purchase, [claim('a', 20, 20)], 'bob')).toBe(true);
    expect(findCredit(refunded.former ?? ann, 'coins')).toMatchObject({ granted: 0, takenBack: 0 });
    expect(readBalance(refunded, 0)).toMatchObject({ granted: 20, takenBack: 0, lots: [{ left: 20 }] });
    expect(getBalance(readBalance(own(5), 20))).toBe(0);
    expect(getBalance(readBalance(own(5), 5))).toBe(15);
  });

  it('takes several writes for many payments', () => {
    const claims = Array.from({ length: 200 }, (_, index) => claim(`payment${index}`, 1));
    let settlement = settle({ purchase, account: ann, former: undefined }, claims, { now: 1, allowsDebt: false });
    let writes = 1;
    for (; settlement.isPartial; writes++) {
      expect(settlement.entries.length).toBeLessThanOrEqual(97);
      settlement = settle({ ...settlement, former: undefined }, claims, { now: 1, allowsDebt: false });
    }
    expect(writes).toBe(3);
    expect(getBalance(findCredit(settlement.account, 'coins'))).toBe(200);
  });
});

const payment = fc.nat(3);
const step = fc.oneof(
  fc.record({ type: fc.constant('demand' as const), payment, part: fc.integer({ min: 0, max: 10 }) }),
  fc.record({ type: fc.constant('spend' as const), amount: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ type: fc.constant('pay' as const), payment, units: fc.integer({ min: 1, max: 10 }) }),
);

/** Recounts a balance from the history alone: no lots, one number for each payment. */
class Recount {
  balance = 0;
  readonly payments = new Map<number, { given: number; demanded: number; taken: number }>();

  private readonly allowsDebt: boolean;

  constructor(allowsDebt: boolean) {
    this.allowsDebt = allowsDebt;
  }

  pay(id: number, units: number): void {
    if (this.payments.has(id)) return;
    this.payments.set(id, { given: units, demanded: 0, taken: 0 });
    this.balance += units;
  }

  demand(id: number, part: number): void {
    const paid = this.payments.get(id);
    if (!paid) return;
    const demanded = Math.min(part, paid.given);
    if (demanded > paid.demanded) {
      const due = demanded - paid.demanded;
      const taken = this.allowsDebt ? due : Math.min(due, Math.max(0, this.balance));
      paid.taken += taken;
      this.balance -= taken;
    } else if (paid.taken > demanded) {
      this.balance += paid.taken - demanded;
      paid.taken = demanded;
    }
    paid.demanded = demanded;
  }

  spend(amount: number): void {
    if (this.balance >= amount) this.balance -= amount;
  }
}

describe('any history of payments, refunds and spends', () => {
  it.each([false, true])('has the balance of a recount, and is settled once (debt: %s)', (allowsDebt) => {
    const property = fc.property(fc.array(step, { maxLength: 50, size: 'max' }), (steps) => {
      const recount = new Recount(allowsDebt);
      const claims = new Map<number, CreditClaim>();
      let state = { purchase, account: ann, former: undefined };
      for (const [now, part] of steps.entries()) {
        if (part.type === 'spend') {
          recount.spend(part.amount);
          state = { ...state, account: spendCredits(state.account, 'coins', part.amount) ?? state.account };
        } else if (part.type === 'pay') {
          recount.pay(part.payment, part.units);
          if (!claims.has(part.payment)) claims.set(part.payment, claim(`payment${part.payment}`, part.units));
        } else {
          recount.demand(part.payment, part.part);
          const known = claims.get(part.payment);
          if (known) claims.set(part.payment, { ...known, demanded: Math.min(known.given, part.part) });
        }
        // The stream repeats what a validation has settled.
        for (let times = 0; times < 2; times++) {
          const { purchase: settled, account } = settle(state, [...claims.values()], { now, allowsDebt });
          state = { purchase: settled, account, former: undefined };
        }
        const balance = getBalance(findCredit(state.account, 'coins'));
        if (balance !== recount.balance || (!allowsDebt && balance < 0))
          throw new Error(`Step ${now}: ${balance} in place of ${recount.balance}`);
      }
    });
    fc.assert(property, sampleRuns({ sample: 300, full: 20_000 }));
  });
});
