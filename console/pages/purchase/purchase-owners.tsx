import type { Loaded } from '../../api/use-api.ts';
import { EmptyState, ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Badge } from '../../components/values.tsx';
import { formatNumber } from '../../format.ts';
import { CustomerLink } from '../customer-column.tsx';
import { describeOwnership, describeStrategy, type Owners } from './describe-ownership.ts';

const maxClaims = 20;

/** The customers who claim a purchase, and why they own it or not. */
export function PurchaseOwners({ data: owners, error, reload }: Loaded<Owners>) {
  if (!owners) return error === undefined ? <Skeleton lines={3} /> : <ErrorNotice error={error} onRetry={reload} />;
  const claims = owners.claims.toSorted((a, b) => Number(b.isEntitled) - Number(a.isEntitled));
  return (
    <>
      {claims.length === 0 && (
        <EmptyState title="No customer claims this purchase.">
          A customer claims it when the app validates its receipt for them. Support staff can link it on the page of a
          customer.
        </EmptyState>
      )}
      <ul class="claims">
        {claims.slice(0, maxClaims).map(({ applicationUsername: user, isEntitled }) => (
          <li key={user}>
            <span>
              <CustomerLink user={user} />{' '}
              <Badge tone={isEntitled ? 'good' : 'neutral'}>{isEntitled ? 'Owns it' : 'Does not own it'}</Badge>
            </span>
            <span class="quiet">{describeOwnership(owners, user)}</span>
          </li>
        ))}
      </ul>
      {claims.length > maxClaims && <p class="quiet">And {formatNumber(claims.length - maxClaims)} more customers.</p>}
      <p class="section-note quiet">{describeStrategy(owners.strategy)}</p>
    </>
  );
}
