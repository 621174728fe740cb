import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { countRefunds, findAnnouncementProblems, type LedgerState, readLedgerState } from './announcement-oracle.ts';
import type { PurchaseSummary } from './purchase-summary.ts';
import type { OwnedPurchase } from './random-ownership-histories.ts';

type ReadProducts = (purchase: OwnedPurchase, summary: PurchaseSummary) => ReadonlyMap<string, boolean | undefined>;

/** The states of the purchases at their stores, and the announcements that the app's server has received. */
export interface AnnouncementLedgers {
  /** Reads all purchases at their stores. */
  readStores(): Promise<void>;
  /** Compares the webhooks since the last call with the states since then. Call it after a complete observation. */
  compare(webhooks: readonly WebhookDelivery[]): Promise<readonly AnnouncementProblem[]>;
}

interface AnnouncementProblem {
  readonly problem: string;
  readonly [detail: string]: unknown;
}

interface Ledger {
  readonly purchase: OwnedPurchase;
  readonly username: string;
  readonly productId: string;
  /** Id of the purchase that this one replaces. */
  readonly replacedId: string | undefined;
  before: LedgerState | undefined;
  states: LedgerState[];
  reversals: number;
  /** Refunds that were not announced yet. */
  owedRefunds: number;
  /** All reasons, interval by interval. */
  readonly received: string[];
}

/** Starts a ledger for each purchase. `readProducts` returns which products of a purchase give access now. */
export function startAnnouncementLedgers(
  owned: readonly OwnedPurchase[],
  readProducts: ReadProducts,
): AnnouncementLedgers {
  const ledgers = new Map<string, Ledger>();
  const deliveryIds = new Set<string>();
  const readStores = async (): Promise<void> => {
    for (const purchase of owned)
      for (const summary of await purchase.listSummaries()) {
        const id = `${purchase.platform}:${summary.purchaseId ?? summary.id}`;
        const username = summary.applicationUsername ?? purchase.username;
        const ledger = ledgers.get(id) ?? createLedger(purchase, username, summary);
        ledger.states.push(readLedgerState(purchase.platform, summary, readProducts(purchase, summary)));
        ledgers.set(id, ledger);
      }
  };
  return {
    readStores,
    async compare(webhooks) {
      await readStores();
      const problems: AnnouncementProblem[] = [];
      for (const webhook of webhooks) {
        if (deliveryIds.has(webhook.deliveryId)) problems.push({ problem: 'a webhook is sent twice', webhook });
        deliveryIds.add(webhook.deliveryId);
      }
      for (const [id, ledger] of ledgers) {
        const ownIds = listOwnIds(id, ledger);
        const reasons = webhooks
          .filter(({ username, notification }) => username === ledger.username && ownIds.has(notification.purchaseId))
          .map(({ notification }) => notification.reason);
        const isFirst = ledger.received.length === 0;
        ledger.received.push(...reasons, '|');
        if (isFirst && reasons.length === 0) {
          ledger.received.pop();
          continue;
        }
        const reversals = ledger.purchase.countReversals();
        const { before, states, replacedId, owedRefunds } = ledger;
        const interval = {
          before,
          states,
          reversals: reversals - ledger.reversals,
          isReplaced: [...ledgers.values()].some((other) => other.replacedId === id),
          isSuccessor: replacedId !== undefined && ledgers.get(replacedId)?.received.includes('PURCHASED') === true,
          itemRefunds: webhooks.filter(
            ({ notification: { purchaseId = '', reason } }) =>
              purchaseId.startsWith(`${id}:`) &&
              !ownIds.has(purchaseId) &&
              (reason === 'REFUNDED' || reason === 'REVOKED'),
          ).length,
          owedRefunds,
        };
        const steps = [before, ...states].filter((state) => state !== undefined);
        const announcedRefunds = reasons.filter((reason) => reason === 'REFUNDED').length;
        ledger.owedRefunds = Math.max(0, owedRefunds + countRefunds(steps) - announcedRefunds);
        problems.push(
          ...findAnnouncementProblems(ledger.purchase.platform, interval, reasons).map((problem) => ({
            problem: `announcements of ${ledger.purchase.platform}: ${problem}`,
            id,
            received: ledger.received.join(' '),
            ...interval,
            history: ledger.purchase.describe(),
          })),
        );
        Object.assign(ledger, { before: ledger.states.at(-1), states: [], reversals });
      }
      return problems;
    },
  };
}

/**
 * Lists the ids under which the service announces a purchase. A deferred plan change of Google Play keeps the token:
 * from its start on, the new product is an item of the purchase, which has its own id.
 *
 * @see https://developer.android.com/google/play/billing/subscriptions#replacement-modes
 */
const listOwnIds = (id: string, { productId: first, before, states }: Ledger): ReadonlySet<string | undefined> =>
  new Set([
    id,
    ...[before, ...states].flatMap((state) => (state && state.productId !== first ? `${id}:${state.productId}` : [])),
  ]);

const createLedger = (purchase: OwnedPurchase, username: string, summary: PurchaseSummary): Ledger => ({
  purchase,
  username,
  productId: summary.productId,
  replacedId: summary.linkedPurchaseToken && `${purchase.platform}:${summary.linkedPurchaseToken}`,
  before: undefined,
  states: [],
  reversals: 0,
  owedRefunds: 0,
  received: [],
});
