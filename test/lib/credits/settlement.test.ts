import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addAccounts,
  type CreditAccount,
  createAccount,
  findCredit,
  getBalance,
  giveLot,
  holdCredits,
  type MovedCredits,
  releaseHold,
  spendCredits,
  splitAccount,
} from '../../../lib/credits/credit-account.ts';
import type { CreditEntry } from '../../../lib/credits/credit-entry.ts';
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

describe('settle', () => {
  it('gives, and then reports the purchase as settled', () => {
    const claims = [claim('a', 10), claim('b', 20)];
    const settlement = settle({ purchase, account: ann, former: undefined }, claims, { now: 1, allowsDebt: false });
    expect(settlement.entries.map(({ type, amount }) => [type, amount])).toEqual([
      ['given', 10],
      ['given', 20],
    ]);
    expect(isSettled(settlement.purchase, claims, 'ann')).toBe(true);
    expect(isSettled(settlement.purchase, [claim('a', 10), claim('b', 20, 1)], 'ann')).toBe(false);
  });

  it('gives once if the store reports the final id of a payment later', () => {
    const given = settle({ purchase, account: ann, former: undefined }, [claim('early', 10)], {
      now: 1,
      allowsDebt: false,
    });
    const renamed = settle({ ...given, former: undefined }, [claim('final', 10, 4)], { now: 2, allowsDebt: false });
    expect(findCredit(renamed.account, 'coins')).toMatchObject({ granted: 10, takenBack: 4 });
  });

  it('moves, takes back and returns under the final id of the payment, too', () => {
    const rules = { now: 1, allowsDebt: false };
    const bob = createAccount('bob', false);
    const given = settle({ purchase, account: ann, former: undefined }, [claim('early', 10, 4)], rules);
    const renamed = settle({ ...given, former: undefined }, [claim('final', 10)], rules);
    expect(findCredit(renamed.account, 'coins').lots).toMatchObject([{ id: 'early', left: 10 }]);
    const moved = settle({ ...renamed, account: bob, former: renamed.account }, [claim('final', 10)], rules);
    expect(getBalance(findCredit(moved.account, 'coins'))).toBe(10);
    const refunded = settle({ ...moved, former: undefined }, [claim('final', 10, 10)], rules);
    expect(getBalance(findCredit(refunded.account, 'coins'))).toBe(0);
  });

  it('gives to a new owner as if the refund before the move had been made after it', () => {
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

  it('needs several writes for many payments', () => {
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

describe('settle (any history of payments, refunds and spends)', () => {
  it.each([false, true])(
    'reaches the balance of a recount, and repeated steps do not change it (debt: %s)',
    (allowsDebt) => {
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
            throw new Error(`Step ${now}: ${balance} instead of ${recount.balance}`);
        }
      });
      fc.assert(property, sampleRuns({ sample: 300, full: 20_000 }));
    },
  );
});

const user = fc.constantFrom('ann', 'bob', 'eve');
const sharedStep = fc.oneof(
  step,
  fc.record({ type: fc.constant('claim' as const), user }),
  fc.record({ type: fc.constant('rename' as const), payment }),
  fc.record({ type: fc.constantFrom('use' as const, 'hold' as const, 'gift' as const), user, amount: fc.nat(20) }),
  fc.record({ type: fc.constant('release' as const), user }),
  fc.record({ type: fc.constant('merge' as const), from: user, to: user }),
  fc.record({ type: fc.constant('reverse' as const) }),
);

interface Merge {
  readonly from: string;
  readonly to: string;
  readonly moved: MovedCredits;
  readonly movesPurchase: boolean;
}

/** Customers who merge, and claim one purchase from each other. */
class SharedPurchase {
  readonly accounts = new Map(['ann', 'bob', 'eve'].map((name) => [name, createAccount(name, false)]));
  readonly claims = new Map<number, CreditClaim>();
  readonly entries: CreditEntry[] = [];
  readonly merges: Merge[] = [];
  settled = purchase;

  private readonly allowsDebt: boolean;

  constructor(allowsDebt: boolean) {
    this.allowsDebt = allowsDebt;
  }

  get(name: string | undefined): CreditAccount {
    return this.accounts.get(String(name)) ?? ann;
  }

  change(name: string, change: (account: CreditAccount) => CreditAccount | undefined): void {
    this.accounts.set(name, change(this.get(name)) ?? this.get(name));
  }

  /** A merge has moved the account already. */
  settle(owner: string | undefined, now: number, isMerged = false): void {
    const former = isMerged || owner === this.settled.owner ? undefined : this.get(this.settled.owner);
    const before = { purchase: this.settled, account: this.get(owner), former };
    const after = settle(before, [...this.claims.values()], { now, allowsDebt: this.allowsDebt });
    for (const account of [after.account, after.former ?? after.account]) this.accounts.set(account.username, account);
    this.settled = after.purchase;
    this.entries.push(...after.entries);
  }

  merge(from: string, to: string, now: number): void {
    if (from === to) return;
    const { credits, holds } = this.get(from);
    this.change(to, (account) => addAccounts(account, { credits, holds }));
    this.change(from, (account) => ({ ...account, credits: {}, holds: [] }));
    const movesPurchase = this.settled.owner === from;
    this.merges.push({ from, to, moved: { credits, holdIds: holds.map(({ id }) => id) }, movesPurchase });
    if (movesPurchase) this.settle(to, now, true);
  }

  reverse(now: number): void {
    const merge = this.merges.pop();
    if (!merge) return;
    const { rest, returned } = splitAccount(this.get(merge.to), merge.moved);
    this.accounts.set(merge.to, rest);
    this.change(merge.from, (account) => addAccounts(account, returned));
    if (merge.movesPurchase && this.settled.owner === merge.to) this.settle(merge.from, now, true);
  }
}

describe('settle (any history of a purchase of several customers)', () => {
  it.each([false, true])(
    'takes back at most what refunds demand, and returns it with them (debt: %s)',
    (allowsDebt) => {
      const property = fc.property(fc.array(sharedStep, { maxLength: 50, size: 'max' }), (steps) => {
        const shared = new SharedPurchase(allowsDebt);
        let given = 0;
        for (const [now, part] of steps.entries()) {
          const id = `${now}`;
          if (part.type === 'pay') {
            if (!shared.claims.has(part.payment))
              shared.claims.set(part.payment, claim(`p${part.payment}`, part.units));
          } else if (part.type === 'demand') {
            const known = shared.claims.get(part.payment);
            const demanded = Math.min(known?.given ?? 0, part.part);
            if (known) shared.claims.set(part.payment, { ...known, demanded });
          } else if (part.type === 'rename') {
            const known = shared.claims.get(part.payment);
            if (known) shared.claims.set(part.payment, { ...known, paymentId: `${known.transactionId}/${now}` });
          } else if (part.type === 'merge') shared.merge(part.from, part.to, now);
          else if (part.type === 'reverse') shared.reverse(now);
          else if (part.type === 'claim') shared.settle(part.user, now);
          else if (part.type === 'release')
            shared.change(part.user, (account) => releaseHold(account, account.holds[0]?.id ?? ''));
          else if (part.type === 'gift') {
            const lot = { id, origin: 'gift', givenAt: now, amount: part.amount } as const;
            given += part.amount;
            shared.change(part.user, (account) => giveLot(account, 'coins', lot));
          } else if (part.type === 'hold') {
            const hold = { id, credit: 'coins', amount: part.amount, until: 1_000 };
            shared.change(part.user, (account) => holdCredits(account, hold));
          } else if (part.type === 'use')
            shared.change(part.user, (account) => spendCredits(account, 'coins', part.amount));
          shared.settle(shared.settled.owner, now);
          checkPayments(shared);
        }
        checkBalances(shared, given);
      });
      fc.assert(property, sampleRuns({ sample: 1_000, full: 50_000 }));
    },
  );
});

/** Each payment has given once. What its refunds have taken, of whomever, is at most what they demand. */
function checkPayments({ claims, entries }: SharedPurchase): void {
  for (const { transactionId, given, demanded } of claims.values()) {
    const sum = (type: string) =>
      entries
        .filter((entry) => entry.transactionId === transactionId && entry.type === type)
        .reduce((total, { amount }) => total + amount, 0);
    const taken = sum('taken-back') - sum('returned');
    if (sum('given') !== given || taken < 0 || taken > demanded)
      throw new Error(`${transactionId} gave ${sum('given')} of ${given}: ${taken} taken of ${demanded}.`);
  }
}

/** No unit appears or disappears between the customers. */
function checkBalances({ accounts, entries }: SharedPurchase, gifts: number): void {
  const signs: Partial<Record<CreditEntry['type'], number>> = { given: 1, 'taken-back': -1, returned: 1 };
  const settled = entries.reduce((total, { type, amount }) => total + (signs[type] ?? 0) * amount, 0);
  const credits = [...accounts.values()].map((account) => findCredit(account, 'coins'));
  const total = credits.reduce((sum, credit) => sum + getBalance(credit) + credit.spent, 0);
  if (total !== gifts + settled) throw new Error(`${total} units instead of ${gifts + settled}.`);
}
