import { useEffect, useState } from 'preact/hooks';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { TimelineRecord } from '../../../lib/purchases/timeline-contract.ts';
import { callApi } from '../../api/client.ts';
import { endpoints } from '../../api/endpoints.ts';
import { type Loaded, useApi, useLoad } from '../../api/use-api.ts';
import { usePolling } from '../../api/use-polling.ts';
import { readEmulatorClock } from '../../clock.ts';
import { Page, Section } from '../../components/layout.tsx';
import { EmptyState, EndPlaceholders, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { CopyId, DateTime } from '../../components/values.tsx';
import { addRecentCustomer } from '../../recent-customers.ts';
import { Link } from '../../router.tsx';
import { showsSandbox } from '../../sandbox.ts';
import { useCanChange, useCanSupport } from '../../session.ts';
import type { PageProps } from '../page.ts';
import { parseSkip } from '../parse-skip.ts';
import { HistoryTabs, timelinePageSize } from '../purchase/history-tabs.tsx';
import { loadPaymentsFromStart } from '../purchase/load-payments.ts';
import { MissingRecord } from '../purchase/missing-record.tsx';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { ConsentButton } from './consent-button.tsx';
import { Credits } from './credits.tsx';
import { CustomerPurchases } from './customer-purchases.tsx';
import { entitlementEndpoints } from './entitlement-endpoints.ts';
import { EntitlementsPanel } from './entitlements.tsx';
import { LinkPurchaseButton } from './link-purchase-button.tsx';
import { MergeButton } from './merge-button.tsx';
import { findLatestClaim, type GetClaimRevision } from './ownership-reason.tsx';
import { Spend } from './spend.tsx';
import { UndeliveredNotice } from './undelivered-notice.tsx';
import { unownedClaims } from './unowned-claims.tsx';
import { purchasePageSize, useCustomerPurchases } from './use-customer-purchases.ts';

/** A customer: what they own now and why, their payments and the timeline of everything. */
export const CustomerPage = ({ params: { user }, query }: PageProps<'user'>) => (
  // The key removes the data of the former customer.
  <Customer key={user} user={user} query={query} />
);

function Customer({ user, query }: { readonly user: string } & Pick<PageProps, 'query'>) {
  const canSupport = useCanSupport();
  const canChange = useCanChange();
  const purchases = useCustomerPurchases(user, parseSkip(query.skip, purchasePageSize));
  const { newest, active = [] } = purchases.lists;
  const timeline = useApi(purchaseEndpoints.getCustomerTimeline, {
    params: { applicationUsername: user },
    query: { limit: timelinePageSize },
  });
  const events = timeline.data?.rows ?? [];
  const summaries = useApi(endpoints.listCustomers, {
    query: { applicationUsername: encodeURIComponent(user), include_spend: 'true' },
  });
  const summary = summaries.data?.rows.find(({ applicationUsername }) => applicationUsername === user);
  const app = useApi(endpoints.getApp, {});
  const products = Object.values(app.data?.catalogue ?? {});
  const creditNames = [...new Set(products.flatMap(({ credits }) => Object.keys(credits ?? {})))].sort();
  useEffect(() => {
    if (summary) addRecentCustomer(user);
  }, [user, summary !== undefined]);
  const [linkCount, setLinkCount] = useState(0);
  const [grantChanges, setGrantChanges] = useState(0);
  const revision = purchases.isLoaded ? JSON.stringify([newest, active]) : undefined;
  const getClaimRevision: GetClaimRevision = (details, purchaseId) =>
    timeline.data && JSON.stringify([linkCount, details, findLatestClaim(events, purchaseId)]);
  const loadPayments = async (signal: AbortSignal) =>
    await loadPaymentsFromStart(async (page) => {
      const request = { params: { applicationUsername: user }, query: page };
      return (await callApi(purchaseEndpoints.getCustomerTransactions, request, { signal })).transactions;
    });
  const payments = useLoad(loadPayments, user, { identity: user, revision });
  const claims = useApi(
    purchaseEndpoints.getCustomerClaims,
    { params: { applicationUsername: user }, query: unownedClaims },
    { revision: revision && getClaimRevision(revision) },
  );
  const accessRevision = revision && `${grantChanges}\n${getClaimRevision(revision)}`;
  const grants = useApi(
    entitlementEndpoints.listGrants,
    { params: { applicationUsername: user } },
    { revision: accessRevision },
  );
  const entitlements = useApi(
    entitlementEndpoints.getCustomerEntitlements,
    { params: { applicationUsername: user } },
    { revision: accessRevision },
  );
  const error = purchases.error ?? timeline.error ?? payments.error ?? claims.error;
  const reload = () => {
    for (const loaded of [purchases, timeline, payments, claims]) loaded.reload();
  };
  const handleLink = () => {
    setLinkCount(linkCount + 1);
    purchases.reload();
    timeline.reload();
  };
  usePolling(
    () => {
      readEmulatorClock().catch(() => {});
      if (purchases.isLoading || timeline.isLoading) return;
      purchases.reload();
      timeline.reload();
    },
    { revision: JSON.stringify([revision, timeline.data?.rows]), minMs: 4_000, maxMs: 60_000 },
  );
  // In this order, so that no section moves another one that is already shown.
  const showsAccess = error !== undefined || [app, entitlements, grants].every(isSettled);
  const showsHistory = error !== undefined || (showsAccess && purchases.isLoaded && isSettled(claims));
  const isUnknown =
    [newest, timeline.data?.rows, claims.data?.rows].every((rows) => rows?.length === 0) &&
    timeline.data?.nextCursor === undefined;
  return (
    <Page
      title={user}
      context={<Link to="/customers">Customers</Link>}
      subtitle={
        <>
          <CopyId value={user} label="name of the customer">
            Copy the name
          </CopyId>
          {summary && (
            <>
              {' · Paid '}
              <Spend spend={summary.spend} />
              {' · First seen '}
              <DateTime value={summary.createdAt} kind="date" />
            </>
          )}
        </>
      }
      actions={
        <>
          {canSupport && <LinkPurchaseButton user={user} onDone={handleLink} />}
          {canChange && (
            <>
              <ConsentButton user={user} onDone={timeline.reload} />
              <MergeButton
                user={user}
                onDone={() => {
                  handleLink();
                  setGrantChanges(grantChanges + 1);
                }}
              />
            </>
          )}
        </>
      }
    >
      {error !== undefined && newest ? <ErrorNotice error={error} onRetry={reload} /> : null}
      {error !== undefined && !newest ? (
        <MissingRecord error={error} onRetry={reload} title="This is not the name of a customer." query={user}>
          Check the name.
        </MissingRecord>
      ) : isUnknown ? (
        <EmptyState title="The app has no customer with this name.">
          A customer appears when the app validates a receipt for them. Names are case-sensitive.{' '}
          <Link to="/customers" query={{ q: user }}>
            Search for it
          </Link>
        </EmptyState>
      ) : (
        <EndPlaceholders error={error}>
          <UndeliveredNotice
            user={user}
            revision={timeline.data && JSON.stringify(listAttempts(events))}
            onReplay={timeline.reload}
          />
          {showsAccess ? (
            <EntitlementsPanel
              user={user}
              app={app}
              revision={accessRevision}
              entitlements={entitlements}
              grants={grants}
              onChange={() => {
                setGrantChanges(grantChanges + 1);
                timeline.reload();
              }}
            />
          ) : (
            <Section title="Entitlements">
              <Skeleton lines={4} />
            </Section>
          )}
          {showsAccess && creditNames.length > 0 && (
            <Credits
              user={user}
              isSandbox={showsSandbox(query)}
              names={creditNames}
              revision={timeline.data && JSON.stringify([grantChanges, events[0]])}
              onChange={timeline.reload}
            />
          )}
          {showsAccess && (
            <CustomerPurchases
              user={user}
              lists={purchases.lists}
              payments={payments.data?.rows}
              claims={claims.data}
              hasGrant={grants.data?.rows.some(({ isActive }) => isActive) ?? false}
              getClaimRevision={getClaimRevision}
            />
          )}
          {showsHistory && (
            <HistoryTabs
              subject="customer"
              timeline={timeline.data}
              loadOlder={(cursor) =>
                callApi(purchaseEndpoints.getCustomerTimeline, {
                  params: { applicationUsername: user },
                  query: { limit: timelinePageSize, cursor },
                })
              }
              lifecycles={newest && uniqueById([...newest, ...active])}
              timelineNote={
                purchases.lists.total > purchasePageSize
                  ? `The lifecycle shows the newest ${purchasePageSize} purchases and those that give access. The page of a purchase has its own.`
                  : undefined
              }
              payments={payments.data}
              query={query}
            />
          )}
        </EndPlaceholders>
      )}
    </Page>
  );
}

const isSettled = ({ data, error }: Pick<Loaded<unknown>, 'data' | 'error'>): boolean =>
  data !== undefined || error !== undefined;

/** Lists the ids of the attempts of webhooks. */
const listAttempts = (timeline: readonly TimelineRecord[]): string[] =>
  timeline.flatMap((row) => (row.type === 'event' && row.deliveryId !== undefined ? row.eventId : []));

const uniqueById = (purchases: readonly PurchaseDetails[]): PurchaseDetails[] => [
  ...new Map(purchases.map((purchase) => [purchase.purchaseId, purchase])).values(),
];
