import type { AccessFact } from '../../../lib/entitlements/contract.ts';
import { useApi } from '../../api/use-api.ts';
import { ErrorNotice, Skeleton } from '../../components/notice.tsx';
import { Badge, DateTime } from '../../components/values.tsx';
import { entitlementEndpoints } from './entitlement-endpoints.ts';

interface AccessExplanationProps {
  readonly user: string;
  readonly entitlement: string;
  /** Version of the facts. */
  readonly revision: string | undefined;
}

/** The facts from which the access of a customer follows, in the order of their dates. */
export function AccessExplanation({ user, entitlement, revision }: AccessExplanationProps) {
  const request = { params: { applicationUsername: user }, query: { entitlement } };
  const { data, error, reload } = useApi(entitlementEndpoints.explainAccess, request, { revision });
  if (error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (!data) return <Skeleton lines={3} />;
  return (
    <ol class="facts" aria-label={`Reasons of ${entitlement}`}>
      {data.because.map((fact) => (
        <li key={JSON.stringify(fact)}>
          <span class="quiet">{fact.at === null ? 'Now' : <DateTime value={fact.at} />}</span> {fact.what}{' '}
          <Effect effect={fact.effect} />
        </li>
      ))}
      {data.next && (
        <li>
          <span class="quiet">
            Next, <DateTime value={data.next.at} />
          </span>{' '}
          {data.next.what}
        </li>
      )}
    </ol>
  );
}

const Effect = ({ effect }: Pick<AccessFact, 'effect'>) =>
  effect === 'none' ? null : (
    <Badge tone={effect === 'gives' ? 'good' : 'bad'}>{effect === 'gives' ? 'Gives access' : 'Prevents access'}</Badge>
  );
