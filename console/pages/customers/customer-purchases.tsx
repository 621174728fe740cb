import type { PurchaseDetails, TransactionRecord } from '../../../lib/api/purchase-records.ts';
import type { TimelineRecord } from '../../../lib/api/timeline-records.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { Section } from '../../components/layout.tsx';
import { EmptyState, Notice, Skeleton } from '../../components/notice.tsx';
import { Platform } from '../../components/values.tsx';
import { formatNumber, formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import { describeOwnership } from '../purchase/describe-ownership.ts';
import { describePurchase, type PurchaseDescription } from '../purchase/describe-purchase.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { PurchaseState } from '../purchase/purchase-state.tsx';

interface CustomerPurchasesProps {
  readonly user: string;
  /** Undefined while they are loading. */
  readonly purchases: readonly PurchaseDetails[] | undefined;
  readonly total: number;
  readonly timeline: readonly TimelineRecord[] | undefined;
  readonly payments: readonly TransactionRecord[] | undefined;
}

interface DescribedRow {
  readonly purchase: PurchaseDetails;
  readonly description: PurchaseDescription;
}

/** What a customer owns now and why, what no longer gives access, and what they validated without owning it. */
export function CustomerPurchases({ user, purchases, total, timeline = [], payments }: CustomerPurchasesProps) {
  const now = useNow();
  if (!purchases)
    return (
      <Section title="Access now">
        <Skeleton lines={6} />
      </Section>
    );
  const rows = purchases
    .map((purchase) => ({
      purchase,
      description: describePurchase(purchase, { now, ...(payments && { transactions: payments }) }),
    }))
    .toSorted((a, b) => getLatestDate(b.purchase).localeCompare(getLatestDate(a.purchase)));
  const active = rows.filter(({ description }) => description.givesAccess);
  const ended = rows.filter(({ description }) => !description.givesAccess);
  const isComplete = total <= purchases.length;
  const others = isComplete ? listOtherPurchases(timeline, purchases) : [];
  return (
    <>
      <Section title="Access now">
        {active.length === 0 ? (
          <EmptyState title="No purchase gives this customer access now.">
            {ended.length + others.length > 0
              ? 'The purchases below state why they do not give access.'
              : 'No receipt with a purchase was validated for this customer.'}
          </EmptyState>
        ) : (
          <PurchaseList user={user} rows={active} />
        )}
      </Section>
      {others.length > 0 && <OtherPurchases user={user} purchaseIds={others} />}
      {ended.length > 0 && (
        <Section title="Without access">
          <PurchaseList user={user} rows={ended} />
        </Section>
      )}
      {!isComplete && (
        <Notice>
          The customer has {formatNumber(total)} purchases. {formatNumber(purchases.length)} of them are shown.
        </Notice>
      )}
    </>
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
