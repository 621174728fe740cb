import pMap from 'p-map';
import type { CreditTotalsByName } from '../api/credit-totals.ts';
import { findCatalogueProduct } from '../apps/catalogue.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import type { Service } from '../foundation/service.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';

interface ValidatedPurchases {
  readonly appName: string;
  readonly username: string | undefined;
  readonly purchases: readonly EntitledPurchase[];
  readonly eventId: string;
}

/** The stream settles the others: see `settleRecords`. */
const maxSettled = 20;
const concurrency = 4;

/**
 * Settles the latest validated purchases of the customer whose products give credits. Returns the credits of the
 * customer, or undefined if no product gives some: the validation then reads nothing more.
 */
export async function settleValidation(
  service: Service,
  { appName, username, purchases, eventId }: ValidatedPurchases,
): Promise<CreditTotalsByName | undefined> {
  if (username === undefined) return undefined;
  const catalogue = await findCachedCatalogue(service, appName);
  const giving = purchases
    .filter(({ entitledUsers }) => entitledUsers.includes(username))
    .map(({ purchase }) => purchase)
    .filter(({ productId }) => findCatalogueProduct(catalogue, productId)?.credits !== undefined)
    .sort((a, b) => (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0));
  const [latest] = giving;
  if (!latest) return undefined;
  // Loaded with the first purchase that gives credits: most apps do not need it.
  const [{ settleCredits }, { findAccount }, { toCreditTotals }] = await Promise.all([
    import('./settle-credits.ts'),
    import('./credit-table.ts'),
    import('./to-records.ts'),
  ]);
  const settle = async ({ purchaseId }: { purchaseId: string }) =>
    await settleCredits(service, appName, { purchaseId, eventId });
  await pMap(giving.slice(0, maxSettled), settle, { concurrency });
  const account = await findAccount(service, appName, { username, isSandbox: latest.sandbox });
  return toCreditTotals(account, service.now());
}
