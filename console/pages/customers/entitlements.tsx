import { useState } from 'preact/hooks';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getApp } from '../../../lib/apps/contract.ts';
import type { getCustomerEntitlements, listGrants } from '../../../lib/entitlements/contract.ts';
import type { Loaded } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState, ErrorNotice } from '../../components/notice.tsx';
import { Badge, DateTime, Platform } from '../../components/values.tsx';
import { formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import { useCanSupport } from '../../session.ts';
import { AccessExplanation } from './access-explanation.tsx';
import { GrantButton } from './grant-dialogs.tsx';
import { Grants } from './grants.tsx';
import { type DescribedEntitlement, listEntitlements } from './list-entitlements.ts';

interface EntitlementsProps {
  readonly user: string;
  readonly app: Loaded<ContractResponse<typeof getApp>>;
  /** Version of the purchases, grants and events of the customer. */
  readonly revision: string | undefined;
  readonly entitlements: Loaded<ContractResponse<typeof getCustomerEntitlements>>;
  readonly grants: Loaded<ContractResponse<typeof listGrants>>;
  readonly onChange: () => void;
}

/**
 * What the customer has access to and why, with the grants. Shows nothing for an app without entitlements and a
 * customer without grants, unless the key may grant access.
 */
export function EntitlementsPanel({ user, app, revision, entitlements, grants, onChange }: EntitlementsProps) {
  const canSupport = useCanSupport();
  const names = [...new Set(Object.values(app.data?.catalogue ?? {}).flatMap((product) => product.entitlements ?? []))];
  const rows = entitlements.data ? listEntitlements(entitlements.data) : [];
  const grantRows = grants.data?.rows ?? [];
  const error = entitlements.error ?? grants.error;
  if (!canSupport && error === undefined && names.length + rows.length + grantRows.length === 0) return null;
  return (
    <Section
      title="Entitlements"
      actions={canSupport && !app.isLoading && <GrantButton user={user} names={names} onDone={onChange} />}
    >
      <ErrorNotice error={error} onRetry={entitlements.reload} />
      {entitlements.data && rows.length === 0 && (
        <EmptyState title="The customer has never had an entitlement.">
          Only purchases whose product gives one in the catalogue, and grants, give entitlements.
        </EmptyState>
      )}
      <ul class="claims">
        {rows.map((row) => (
          <EntitlementRow
            key={row.name}
            user={user}
            row={row}
            revision={revision && JSON.stringify([revision, row.entitlement])}
          />
        ))}
      </ul>
      <Grants user={user} grants={grantRows} onChange={onChange} />
    </Section>
  );
}

interface EntitlementRowProps {
  readonly user: string;
  readonly row: DescribedEntitlement;
  readonly revision: string | undefined;
}

function EntitlementRow({ user, row: { name, state, entitlement }, revision }: EntitlementRowProps) {
  const [isExplained, setExplained] = useState(false);
  const { isActive, isSandbox, source } = entitlement;
  return (
    <li>
      <span>
        <strong>{name}</strong> <Badge tone={tones[state]}>{state}</Badge>{' '}
        {isSandbox && <Badge tone="info">Sandbox</Badge>} <EntitlementEnd entitlement={entitlement} />
      </span>
      <span class="quiet">
        {source.type === 'grant' ? (
          <>From a grant</>
        ) : (
          <>
            From{' '}
            <Link to="/purchases/:id" params={{ id: source.purchaseId }}>
              {formatProductId(source.productId)}
            </Link>
            , <Platform value={source.platform} />
          </>
        )}
      </span>
      <Button
        kind="quiet"
        onClick={() => setExplained(!isExplained)}
        isPressed={isExplained}
        label={`Why ${isActive ? 'has' : 'does not have'} the customer ${name}?`}
      >
        Why?
      </Button>
      {isExplained && <AccessExplanation user={user} entitlement={name} revision={revision} />}
    </li>
  );
}

const tones = { Active: 'good', 'In grace period': 'warn', 'Not active': 'neutral' } as const;

function EntitlementEnd({ entitlement: { isActive, until, willRenew } }: Pick<DescribedEntitlement, 'entitlement'>) {
  if (until === null) return isActive ? <span>without an end</span> : null;
  return (
    <span>
      {isActive ? (willRenew ? 'renews by ' : 'until ') : 'ended on '}
      <DateTime value={until} kind="date" />
    </span>
  );
}
