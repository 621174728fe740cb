import type { PurchaseDetails, TransactionRecord } from '../../../lib/api/purchase-records.ts';
import type { TimelineRecord } from '../../../lib/api/timeline-records.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { announce } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState, Skeleton } from '../../components/notice.tsx';
import { Platform } from '../../components/values.tsx';
import { formatNumber, formatProductId } from '../../format.ts';
import { changeQuery, Link } from '../../router.tsx';
import { describeOwnership } from '../purchase/describe-ownership.ts';
import { describePurchase, type PurchaseDescription } from '../purchase/describe-purchase.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { PurchaseState } from '../purchase/purchase-state.tsx';
import { type CustomerPurchaseLists, maxListedPurchases, purchasePageSize } from './use-customer-purchases.ts';

interface CustomerPurchasesProps {
  readonly user: string;
  readonly lists: CustomerPurchaseLists;
  readonly timeline: readonly TimelineRecord[] | undefined;
  readonly payments: readonly TransactionRecord[] | undefined;
}

interface DescribedRow {
  readonly purchase: PurchaseDetails;
  readonly description: PurchaseDescription;
}

/** What a customer owns now and why, what no longer gives access, and what they validated without owning it. */
export function CustomerPurchases({ user, lists, timeline = [], payments }: CustomerPurchasesProps) {
  const now = useNow();
  const describe = (purchases: readonly PurchaseDetails[]): DescribedRow[] =>
    purchases.map((purchase) => ({
      purchase,
      description: describePurchase(purchase, { now, ...(payments && { transactions: payments }) }),
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
  const others = isPaged ? [] : listOtherPurchases(timeline, newest);
  return (
    <>
      <Section title="Access now" description={isPaged && 'Of each product, the purchase that gives access longest.'}>
        {active.length === 0 ? (
          <EmptyState title="No purchase gives this customer access now.">
            {ended.length + others.length + total > 0
              ? 'The purchases below state why they do not give access.'
              : 'No receipt with a purchase was validated for this customer.'}
          </EmptyState>
        ) : (
          <PurchaseList user={user} rows={active} />
        )}
      </Section>
      {others.length > 0 && <OtherPurchases user={user} purchaseIds={others} />}
      {isPaged ? (
        <Section title="All purchases" description="Newest first.">
          {lists.page ? <PurchaseList user={user} rows={describe(lists.page)} /> : <Skeleton lines={12} />}
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

const maxOthers = 10;

/** Lists the purchases of the customer's validations and links that the customer does not own. */
function listOtherPurchases(timeline: readonly TimelineRecord[], owned: readonly PurchaseDetails[]): string[] {
  const ids = timeline.flatMap((row) =>
    row.type === 'event' && claimingEvents.includes(row.eventType) ? (row.purchaseIds ?? []) : [],
  );
  const ownedIds = new Set(owned.map(({ purchaseId }) => purchaseId));
  return [...new Set(ids)].filter((id) => !ownedIds.has(id)).slice(0, maxOthers);
}

const claimingEvents: readonly string[] = ['receipt.validated', 'purchase.claimed'];

/** Each reason is a request. The others are on the pages of the purchases. */
const maxReasons = 10;

const PurchaseList = ({ user, rows }: { readonly user: string; readonly rows: readonly DescribedRow[] }) => (
  <ul class="purchase-list">
    {rows.map(({ purchase, description }, index) => (
      <li key={purchase.purchaseId}>
        <h3>
          <Link to="/purchases/:id" params={{ id: purchase.purchaseId }}>
            {formatProductId(purchase.productId)}
          </Link>{' '}
          <span class="quiet">
            <Platform value={purchase.platform} />
          </span>
        </h3>
        <PurchaseState description={description} />
        {index < maxReasons && <Ownership user={user} purchaseId={purchase.purchaseId} />}
      </li>
    ))}
  </ul>
);

/** Why a customer owns a purchase or does not own it. */
const Ownership = ({ user, purchaseId }: { readonly user: string; readonly purchaseId: string }) => {
  const { data, error } = useApi(purchaseEndpoints.getPurchaseOwners, { params: { purchaseId } });
  if (error !== undefined) return <p class="quiet">The reason of the ownership cannot be loaded.</p>;
  return <p class="quiet">{data ? describeOwnership(data, user) : '\u00a0'}</p>;
};

const OtherPurchases = ({ user, purchaseIds }: { readonly user: string; readonly purchaseIds: readonly string[] }) => (
  <Section title="Validated, but not owned">
    <ul class="claims">
      {purchaseIds.map((id) => (
        <li key={id}>
          <Link to="/purchases/:id" params={{ id }}>
            {id}
          </Link>
          <Ownership user={user} purchaseId={id} />
        </li>
      ))}
    </ul>
  </Section>
);
