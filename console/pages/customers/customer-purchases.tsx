import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';
import { useNow } from '../../clock.ts';
import { announce } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState, Skeleton } from '../../components/notice.tsx';
import { formatNumber } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import { describePurchase } from '../purchase/describe-purchase.ts';
import type { GetClaimRevision } from './ownership-reason.tsx';
import { type DescribedPurchaseRow, PurchaseList } from './purchase-list.tsx';
import { type ClaimPage, UnownedClaims } from './unowned-claims.tsx';
import { type CustomerPurchaseLists, maxListedPurchases, purchasePageSize } from './use-customer-purchases.ts';

interface CustomerPurchasesProps {
  readonly user: string;
  readonly lists: CustomerPurchaseLists;
  readonly payments: readonly TransactionRecord[] | undefined;
  /** The newest claims on purchases that the customer does not own. */
  readonly claims: ClaimPage | undefined;
  /** A grant gives access now. */
  readonly hasGrant: boolean;
  readonly getClaimRevision: GetClaimRevision;
}

/** What a customer owns now and why, what no longer gives access, and what they claim without owning it. */
export function CustomerPurchases({
  user,
  lists,
  payments,
  claims,
  hasGrant,
  getClaimRevision,
}: CustomerPurchasesProps) {
  const now = useNow();
  const describe = (purchases: readonly PurchaseDetails[]): DescribedPurchaseRow[] =>
    purchases.map((purchase) => ({
      purchase,
      description: describePurchase(purchase, { now, ...(payments && { transactions: payments }) }),
      claimRevision: getClaimRevision([purchase.entitledUsers, purchase.isPending], purchase.purchaseId),
    }));
  const { newest, total } = lists;
  const isPaged = total > purchasePageSize;
  const deciding = isPaged ? lists.active : newest;
  if (!newest || !deciding)
    return (
      <Section title="Access now">
        <Skeleton lines={6} />
      </Section>
    );
  const rows = describe(deciding).toSorted((a, b) =>
    getLatestDate(b.purchase).localeCompare(getLatestDate(a.purchase)),
  );
  const active = rows.filter(({ description }) => description.givesAccess);
  const ended = rows.filter(({ description }) => !description.givesAccess);
  return (
    <>
      <Section title="Access now" description={isPaged && 'The purchase of each product that gives access longest.'}>
        {active.length === 0 ? (
          <EmptyState
            title={hasGrant ? 'A grant gives access now, no purchase does.' : 'No purchase gives access now.'}
          >
            {newest.length + (claims?.rows.length ?? 0) > 0
              ? 'The purchases below state why they do not give access.'
              : 'No receipt with a purchase was validated for this customer.'}
          </EmptyState>
        ) : (
          <PurchaseList user={user} rows={active} />
        )}
      </Section>
      {claims && <UnownedClaims user={user} newest={claims} getClaimRevision={getClaimRevision} />}
      {isPaged ? (
        <Section title="All purchases" description="Newest first.">
          {lists.page ? (
            <PurchaseList key={lists.skip} user={user} rows={describe(lists.page)} />
          ) : (
            <Skeleton lines={12} />
          )}
          <Pager {...lists} count={lists.page?.length ?? 0} />
        </Section>
      ) : (
        ended.length > 0 && (
          <Section title="Without access">
            <PurchaseList user={user} rows={ended} />
          </Section>
        )
      )}
    </>
  );
}

/** Leads to newer and older purchases. The position is in the query of the URL. */
function Pager({ skip, total, count }: Pick<CustomerPurchaseLists, 'skip' | 'total'> & { readonly count: number }) {
  const range = count === 0 ? 'No purchases' : `${formatNumber(skip + 1)}–${formatNumber(skip + count)}`;
  const go = (target: number) => {
    changeQuery({ skip: target || undefined });
    announce(`Purchases from ${target + 1}.`);
  };
  return (
    <nav class="pager" aria-label="Pages of the purchases">
      <span class="number pager-range">
        {range} of {total < maxListedPurchases ? formatNumber(total) : `the newest ${formatNumber(total)}`}
      </span>
      <Button kind="quiet" isDisabled={skip === 0} onClick={() => go(Math.max(0, skip - purchasePageSize))}>
        Newer
      </Button>
      <Button kind="quiet" isDisabled={skip + purchasePageSize >= total} onClick={() => go(skip + purchasePageSize)}>
        Older
      </Button>
    </nav>
  );
}

const getLatestDate = ({ expirationDate, purchaseDate = '' }: PurchaseDetails): string =>
  expirationDate ?? purchaseDate;
