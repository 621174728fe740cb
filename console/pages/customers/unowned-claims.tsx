import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getCustomerClaims } from '../../../lib/customers/claim-contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice } from '../../components/notice.tsx';
import { Platform } from '../../components/values.tsx';
import { formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { type GetClaimRevision, OwnershipReason } from './ownership-reason.tsx';

export type ClaimPage = Pick<ContractResponse<typeof getCustomerClaims>, 'rows' | 'nextCursor'>;

/** Query of a page. Each row costs another request, for its reason. */
export const unownedClaims = { isEntitled: 'false', limit: 10 } as const;

interface UnownedClaimsProps {
  readonly user: string;
  readonly newest: ClaimPage;
  readonly getClaimRevision: GetClaimRevision;
}

/** The purchases that a customer claims and does not own. Shows nothing if there are none. */
export function UnownedClaims({ user, newest, getClaimRevision }: UnownedClaimsProps) {
  const [older, setOlder] = useState({ newest, pages: [] as readonly ClaimPage[] });
  const { run, isRunning, error } = useAction(async (cursor: string) => {
    const request = { params: { applicationUsername: user }, query: { ...unownedClaims, cursor } };
    const page = await callApi(purchaseEndpoints.getCustomerClaims, request);
    setOlder((state) => ({ newest, pages: [...(state.newest === newest ? state.pages : []), page] }));
  });
  // Older pages continue the newest one: those behind a former one are not shown.
  const pages = [newest, ...(older.newest === newest ? older.pages : [])];
  const rows = pages.flatMap((page) => page.rows);
  const nextCursor = pages.at(-1)?.nextCursor;
  if (rows.length === 0 && nextCursor === undefined) return null;
  return (
    <Section title="Claimed, but not owned">
      {rows.length === 0 && (
        <EmptyState title="The customer owns the purchases of all latest claims.">Older claims can differ.</EmptyState>
      )}
      <ul class="claims">
        {rows.map(({ purchaseId, productId, platform, ...claim }) => (
          <li key={purchaseId}>
            <span>
              <Link to="/purchases/:id" params={{ id: purchaseId }}>
                {formatProductId(productId)}
              </Link>{' '}
              <span class="quiet">
                <Platform value={platform} />
              </span>
            </span>
            <OwnershipReason user={user} purchaseId={purchaseId} revision={getClaimRevision(claim, purchaseId)} />
          </li>
        ))}
      </ul>
      <ErrorNotice error={error} />
      {nextCursor !== undefined && (
        <Button onClick={() => run(nextCursor)} isBusy={isRunning}>
          Show older claims
        </Button>
      )}
    </Section>
  );
}
