import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { search } from '../../../lib/search/contract.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Badge, CopyId } from '../../components/values.tsx';
import { formatPlatform, formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import { CustomerLink } from '../customer-column.tsx';
import { describePurchase } from '../purchase/describe-purchase.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';

/** Number of customers that a search finds at most. */
const maxCustomers = 20;

type Result = ContractResponse<typeof search>['results'][number];

interface SearchResultsProps {
  readonly text: string;
  /** Something else was found: that nothing has the name is not shown. */
  readonly hasOthers?: boolean;
}

/** Everything that a name or an id identifies. */
export function SearchResults({ text, hasOthers = false }: SearchResultsProps) {
  const { data, error, isLoading, reload } = useApi(purchaseEndpoints.search, { query: { q: text } });
  if (hasOthers && !isLoading && data?.results.length === 0) return null;
  return (
    <Section title="Results">
      <ErrorNotice error={error} onRetry={reload} />
      {isLoading || !data ? (
        error === undefined && <Skeleton lines={3} />
      ) : data.results.length === 0 ? (
        <EmptyState title={`Nothing has the name or id ${text}.`}>
          The beginning of a word of a name is sufficient. An id must be complete, and can be without the prefix of its
          store.
        </EmptyState>
      ) : (
        <>
          <ul class="claims">
            {data.results.map((result) => (
              <ResultRow key={JSON.stringify(result)} result={result} />
            ))}
          </ul>
          {data.results.filter(({ type }) => type === 'customer').length >= maxCustomers && (
            <p class="quiet">A search finds at most {maxCustomers} customers. Enter more of the name.</p>
          )}
        </>
      )}
    </Section>
  );
}

function ResultRow({ result }: { readonly result: Result }) {
  const now = useNow();
  switch (result.type) {
    case 'customer':
      return (
        <li>
          <CustomerLink user={result.applicationUsername} />
          <span class="quiet">{result.match === 'alias' ? 'Customer whom a store calls this' : 'Customer'}</span>
        </li>
      );
    case 'purchase': {
      const { purchaseId, productId, platform, entitledUsers } = result.purchase;
      const { label, tone } = describePurchase(result.purchase, { now });
      return (
        <li>
          <span>
            <Link to="/purchases/:id" params={{ id: purchaseId }}>
              {formatProductId(productId)}
            </Link>{' '}
            <Badge tone={tone}>{label}</Badge> <CopyId value={purchaseId} label="purchase id" />
          </span>
          <span class="quiet">
            Purchase at {formatPlatform(platform)}
            {entitledUsers.slice(0, 3).map((user) => (
              <span key={user}>
                {', '}
                <CustomerLink user={user} />
              </span>
            ))}
          </span>
        </li>
      );
    }
    case 'transaction': {
      const { purchaseId, productId, transactionId } = result.transaction;
      return (
        <li>
          <Link to="/purchases/:id" params={{ id: purchaseId }} query={{ tab: 'payments' }}>
            {formatProductId(productId)}
          </Link>
          <span class="quiet">
            Transaction <CopyId value={transactionId} label="transaction id" />
          </span>
        </li>
      );
    }
    case 'event':
      return (
        <li>
          <CopyId value={result.eventId} label="event id">
            <Link to="/events/:id" params={{ id: result.eventId }}>
              Event {result.eventId}
            </Link>
          </CopyId>
        </li>
      );
    case 'delivery':
      return (
        <li>
          <CopyId value={result.deliveryId} label="delivery id">
            <Link to="/webhooks/:id" params={{ id: result.deliveryId }}>
              Webhook delivery {result.deliveryId}
            </Link>
          </CopyId>
        </li>
      );
  }
}
