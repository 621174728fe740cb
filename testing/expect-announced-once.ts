import { expect } from '@jest/globals';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { PurchaseChange } from '../lib/purchases/purchase-change.ts';
import { toPurchaseRecord } from '../lib/purchases/to-records.ts';

/**
 * What the announcements of an application's purchases must be: each fact of a life told once, and the last one of a
 * purchase made when it was as callers see it at `now`.
 */
export function expectAnnouncedOnce(changes: readonly PurchaseChange[], now: number): void {
  const idOf = ({ after }: PurchaseChange): string => after.state.purchase.purchaseId;
  for (const purchaseId of new Set(changes.map(idOf))) {
    const own = changes.filter((change) => idOf(change) === purchaseId);
    expectOneToldOnce(
      own.toSorted((a, b) => a.after.version - b.after.version),
      now,
    );
  }
}

function expectOneToldOnce(changes: readonly PurchaseChange[], now: number): void {
  const facts = listFacts(changes);
  const life = changes.map(({ lifecycleReasons, after }) => ({
    reasons: lifecycleReasons,
    purchase: after.state.purchase,
    at: after.updatedAt,
  }));
  const twice = facts.filter((fact, index) => facts.indexOf(fact) !== index);
  expect({ twice, life }).toEqual({ twice: [], life });
  const toldLast = changes.findLast(({ announcedReasons }) => announcedReasons.length > 0);
  const [told, present] = [toldLast?.after, changes.at(-1)?.after];
  // Of what was replaced its successor tells.
  if (!told || !present || present.state.purchase.cancelationReason === 'System.Replaced') return;
  const callersSee = toAnnouncedView(present.state.purchase, now);
  expect({ told: toAnnouncedView(told.state.purchase, told.checkedAt), life }).toEqual({ told: callersSee, life });
}

/** What callers see, without what is worth no call: the date of a known wish, and what an amount is in dollars. */
function toAnnouncedView(purchase: Purchase, at: number): object {
  const { renewalIntentChangeDate: _date, amountUSD: _dollars, ...record } = toPurchaseRecord(purchase, at);
  return record;
}

/** What is told of a life, named such that the same thing has the same name. */
function listFacts(changes: readonly PurchaseChange[]): string[] {
  let returns = 0;
  let turns = 0;
  let ends = 0;
  return changes.flatMap(({ after, lifecycleReasons }) => {
    const { purchase, transactions } = after.state;
    const refunds = transactions.flatMap(({ transaction: { transactionId, refundedAt } }) =>
      refundedAt === undefined ? [] : [transactionId, refundedAt],
    );
    if (lifecycleReasons.includes('RENEWED')) returns++;
    if (lifecycleReasons.includes('WILL_AUTO_RENEW') || lifecycleReasons.includes('RENEWED')) turns++;
    const about: Readonly<Record<string, unknown>> = {
      PURCHASED: '',
      RENEWED: [purchase.transactionId, purchase.expirationDate, ends],
      EXPIRED: returns,
      REFUNDED: refunds,
      REVOKED: [refunds, returns],
      WILL_LAPSE: turns,
    };
    if (lifecycleReasons.includes('EXPIRED') || lifecycleReasons.includes('PAUSED')) ends++;
    return lifecycleReasons
      .filter((reason) => reason in about)
      .map((reason) => `${reason} ${JSON.stringify(about[reason])}`);
  });
}
