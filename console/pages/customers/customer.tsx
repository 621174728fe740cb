import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { TimelineRecord } from '../../../lib/purchases/timeline-contract.ts';
import { callApi } from '../../api/client.ts';
import { Page, Section } from '../../components/layout.tsx';
import { EmptyState, EndPlaceholders, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { CopyId, DateTime } from '../../components/values.tsx';
import { Link } from '../../router.tsx';
import { showsSandbox } from '../../sandbox.ts';
import { useCanChange, useCanSupport } from '../../session.ts';
import type { PageProps } from '../page.ts';
import { parseSkip } from '../parse-skip.ts';
import { HistoryTabs, timelinePageSize } from '../purchase/history-tabs.tsx';
import { MissingRecord } from '../purchase/missing-record.tsx';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { ConsentButton } from './consent-button.tsx';
import { Credits } from './credits.tsx';
import { CustomerPurchases } from './customer-purchases.tsx';
import { EntitlementsPanel } from './entitlements.tsx';
import { LinkPurchaseButton } from './link-purchase-button.tsx';
import { MergeButton } from './merge-button.tsx';
import { Spend } from './spend.tsx';
import { UndeliveredNotice } from './undelivered-notice.tsx';
import { useCustomerData } from './use-customer-data.ts';
import { purchasePageSize } from './use-customer-purchases.ts';

/** A customer: what they own now and why, their payments and the timeline of everything. */
export const CustomerPage = ({ params: { user }, query }: PageProps<'user'>) => (
  // The key removes the data of the former customer.
  <Customer key={user} user={user} query={query} />
);

function Customer({ user, query }: { readonly user: string } & Pick<PageProps, 'query'>) {
  const data = useCustomerData(user, parseSkip(query.skip, purchasePageSize));
  const { purchases, timeline, events, app, grants, entitlements, claims, payments, error } = data;
  const { newest, active = [] } = purchases.lists;
  return (
    <Page
      title={user}
      context={<Link to="/customers">Customers</Link>}
      subtitle={<Subtitle user={user} {...data} />}
      actions={<Actions user={user} {...data} />}
    >
      {error !== undefined && newest ? <ErrorNotice error={error} onRetry={data.reload} /> : null}
      {error !== undefined && !newest ? (
        <MissingRecord error={error} onRetry={data.reload} title="This is not the name of a customer." query={user}>
          Check the name.
        </MissingRecord>
      ) : data.isUnknown ? (
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
          {data.showsAccess ? (
            <EntitlementsPanel
              user={user}
              app={app}
              revision={data.accessRevision}
              entitlements={entitlements}
              grants={grants}
              onChange={() => {
                data.countGrantChange();
                timeline.reload();
              }}
            />
          ) : (
            <Section title="Entitlements">
              <Skeleton lines={4} />
            </Section>
          )}
          {data.showsAccess && data.creditNames.length > 0 && (
            <Credits
              user={user}
              isSandbox={showsSandbox(query)}
              names={data.creditNames}
              revision={timeline.data && JSON.stringify([data.grantChanges, events[0]])}
              onChange={timeline.reload}
            />
          )}
          {data.showsAccess && (
            <CustomerPurchases
              user={user}
              lists={purchases.lists}
              payments={payments.data?.rows}
              claims={claims.data}
              hasGrant={grants.data?.rows.some(({ isActive }) => isActive) ?? false}
              getClaimRevision={data.getClaimRevision}
            />
          )}
          {data.showsHistory && (
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

type CustomerData = ReturnType<typeof useCustomerData>;
interface HeaderProps extends Pick<CustomerData, 'summary' | 'timeline' | 'handleLink' | 'countGrantChange'> {
  readonly user: string;
}

const Subtitle = ({ user, summary }: HeaderProps) => (
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
);

function Actions({ user, timeline, handleLink, countGrantChange }: HeaderProps) {
  const canChange = useCanChange();
  return (
    <>
      {useCanSupport() && <LinkPurchaseButton user={user} onDone={handleLink} />}
      {canChange && (
        <>
          <ConsentButton user={user} onDone={timeline.reload} />
          <MergeButton
            user={user}
            onDone={() => {
              handleLink();
              countGrantChange();
            }}
          />
        </>
      )}
    </>
  );
}

/** Lists the ids of the attempts of webhooks. */
const listAttempts = (timeline: readonly TimelineRecord[]): string[] =>
  timeline.flatMap((row) => (row.type === 'event' && row.deliveryId !== undefined ? row.eventId : []));

const uniqueById = (purchases: readonly PurchaseDetails[]): PurchaseDetails[] => [
  ...new Map(purchases.map((purchase) => [purchase.purchaseId, purchase])).values(),
];
