import type { App } from '../apps/app.ts';
import { type Catalogue, listEntitlements } from '../apps/catalogue.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import { listEntries } from '../credits/credit-table.ts';
import { listCustomerClaims } from '../customers/customer-claim-table.ts';
import { listMerges, listMergesOf } from '../customers/merge-table.ts';
import { withoutPlatform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { selectErasedNames } from '../purchases/erased-name-table.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { isActive, type Purchase } from '../purchases/purchase.ts';
import { comparePurchases } from '../purchases/purchase-rank.ts';
import { listAnnouncements } from '../purchases/purchase-table.ts';
import {
  describeAnnouncement,
  describeClaim,
  describeCreditEntry,
  describeErasure,
  describeGrant,
  describeMerge,
  describeNext,
  describePurchase,
  describeSandboxRule,
  type Fact,
} from './describe-facts.ts';
import { allowsSandbox } from './entitlements.ts';
import { type Grant, getGrantEnd, isGrantActive } from './grant.ts';
import { listStoredGrants } from './grant-table.ts';

/** What to explain: access to an entitlement, or to a product with or without platform prefix. */
export type AccessQuestion = { readonly entitlement: string } | { readonly productId: string };

export interface Explanation {
  readonly isActive: boolean;
  /** In the order of their dates. What lacks a date is a state or a setting, at the end. */
  readonly because: readonly Fact[];
  readonly next?: { readonly at: EpochMillis; readonly what: string };
}

/** Number of purchases, the best ones first, and of announcements of each that an explanation has. */
const maxPurchases = 10;
const maxAnnouncements = 20;
const maxClaims = 100;
const maxCreditEntries = 50;

/** Explains from the stored facts whether a customer has access now. */
export async function findAccessReasons(
  service: Service,
  app: Pick<App, 'name' | 'sandboxRule' | 'strategy'>,
  username: string,
  question: AccessQuestion,
): Promise<Explanation> {
  const now = service.now();
  const [catalogue, owned, { rows: claims }, allGrants, history] = await Promise.all([
    findCachedCatalogue(service, app.name),
    listRepresentativePurchases(service, app.name, username),
    listCustomerClaims(service, app.name, username, { limit: maxClaims }),
    listStoredGrants(service, app.name, username),
    listHistoryFacts(service, app.name, username),
  ]);
  const concerns = (purchase: Purchase): boolean => isAbout(question, purchase, catalogue);
  const grants =
    'entitlement' in question ? allGrants.filter((grant) => grant.entitlement === question.entitlement) : [];
  const purchases = owned
    .filter(concerns)
    .sort((a, b) => comparePurchases(a, b, now))
    .slice(0, maxPurchases);
  const claimed = claims.filter(({ purchase }) => concerns(purchase)).slice(0, maxPurchases);
  const counted = purchases.filter(({ sandbox }) => !sandbox || allowsSandbox(app.sandboxRule, username));
  const isNowActive =
    counted.some((purchase) => isActive(purchase, now)) || grants.some((grant) => isGrantActive(grant, now));
  const announcements = await Promise.all(
    purchases.map(async (purchase) => await listAnnouncementFacts(service, app.name, purchase)),
  );
  const facts = [
    ...describeCatalogue(question, catalogue),
    ...purchases.flatMap((purchase) =>
      counted.includes(purchase)
        ? describePurchase(purchase, now)
        : [...describePurchase(purchase, now).map(withoutEffect), describeSandboxRule(purchase)],
    ),
    ...claimed.flatMap(({ purchase, ...claim }) => [
      ...(claim.isEntitled ? [] : describePurchase(purchase, now).map(withoutEffect)),
      ...describeClaim(purchase, { ...claim, strategy: app.strategy }),
    ]),
    ...announcements.flat(),
    ...grants.flatMap((grant) => describeGrant(grant, now)),
    ...(await listCreditFacts(service, app.name, username, { question, catalogue })),
  ];
  const next = findNext({ isNowActive, purchases: counted, grants }, now);
  return {
    isActive: isNowActive,
    because: sortByDate([...(facts.length > 0 ? facts : [describeNothing(question)]), ...history]),
    ...(next && { next }),
  };
}

function isAbout(question: AccessQuestion, { productId }: Purchase, catalogue: Catalogue | undefined): boolean {
  if ('entitlement' in question) return listEntitlements(catalogue, productId).includes(question.entitlement);
  return productId === question.productId || withoutPlatform(productId) === question.productId;
}

/** Says if no product gives the entitlement: usually a name is misspelled. */
function describeCatalogue(question: AccessQuestion, catalogue: Catalogue | undefined): Fact[] {
  if (!('entitlement' in question)) return [];
  const { entitlement } = question;
  const isGiven = Object.values(catalogue ?? {}).some(({ entitlements }) => entitlements?.includes(entitlement));
  return isGiven
    ? []
    : [{ source: 'catalogue', what: `No product of the catalogue gives ${entitlement}.`, effect: 'prevents' }];
}

/** Lists the latest changes of the credits that the product in question gives, or products with the entitlement. */
async function listCreditFacts(
  service: Service,
  appName: string,
  username: string,
  { question, catalogue }: { readonly question: AccessQuestion; readonly catalogue: Catalogue | undefined },
): Promise<Fact[]> {
  const given = new Set(
    Object.entries(catalogue ?? {})
      .filter(([productId, { entitlements = [] }]) =>
        'entitlement' in question
          ? entitlements.includes(question.entitlement)
          : withoutPlatform(productId) === withoutPlatform(question.productId),
      )
      .flatMap(([, { credits = {} }]) => Object.keys(credits)),
  );
  if (given.size === 0) return [];
  const accounts = await Promise.all(
    [false, true].map(async (isSandbox) => {
      const { rows } = await listEntries(service, appName, { username, isSandbox, limit: maxCreditEntries });
      return rows.filter(({ credit }) => given.has(credit)).map(describeCreditEntry);
    }),
  );
  return accounts.flat();
}

const describeNothing = (question: AccessQuestion): Fact => ({
  source: 'customer',
  what: `The service has no purchase of this customer${'entitlement' in question ? ' and no grant that gives it' : ' of this product'}.`,
  effect: 'prevents',
});

/** A purchase that does not count neither gives nor prevents access: another fact says why. */
const withoutEffect = (fact: Fact): Fact => ({ ...fact, effect: 'none' });

/** Lists the merges with other customers, and that facts of the customer were erased. */
async function listHistoryFacts(service: Service, appName: string, username: string): Promise<Fact[]> {
  const [received, lost, erased] = await Promise.all([
    listMerges(service, appName, username),
    listMergesOf(service, appName, username),
    selectErasedNames(service, appName, [username]),
  ]);
  return [
    ...(erased.length > 0 ? [describeErasure()] : []),
    ...[...received, ...lost].flatMap((merge) => describeMerge(merge, username)),
  ];
}

async function listAnnouncementFacts(service: Service, appName: string, purchase: Purchase): Promise<Fact[]> {
  const announcements = await listAnnouncements(service, appName, purchase.purchaseId);
  return announcements
    .slice(-maxAnnouncements)
    .flatMap((announcement) => describeAnnouncement(purchase, announcement) ?? []);
}

const sortByDate = (facts: readonly Fact[]): Fact[] =>
  [...facts].sort((a, b) => (a.at ?? Number.POSITIVE_INFINITY) - (b.at ?? Number.POSITIVE_INFINITY));

/** Finds the end of what lasts longest if there is access, otherwise the first change that gives it back. */
function findNext(
  {
    isNowActive,
    purchases,
    grants,
  }: { readonly isNowActive: boolean; readonly purchases: readonly Purchase[]; readonly grants: readonly Grant[] },
  now: EpochMillis,
): Explanation['next'] {
  const activePurchases = purchases.filter((purchase) => isActive(purchase, now));
  const activeGrants = grants.filter((grant) => isGrantActive(grant, now));
  const ends = [
    ...(isNowActive ? activePurchases : purchases).map((purchase) => describeNext(purchase, now)),
    ...activeGrants.map((grant) => {
      const at = getGrantEnd(grant);
      return at === undefined ? undefined : { at, what: 'The grant ends.' };
    }),
  ];
  // A source without an end keeps the access for good.
  if (isNowActive && ends.includes(undefined)) return undefined;
  const dated = ends.filter((end) => end !== undefined).sort((a, b) => a.at - b.at);
  return isNowActive ? dated.at(-1) : dated[0];
}
